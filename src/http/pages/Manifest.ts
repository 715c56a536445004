import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Appearance } from "../../services/instance/Appearance.ts"
import { iconEdges } from "../../services/instance/PictureSettings.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { iconPath, manifestPath } from "../html/PagePaths.ts"
import { accentOf, palette } from "../html/Palette.ts"
import { Visitors } from "../html/Visitors.ts"

/** Time for which browsers cache it, in seconds. */
const keptSeconds = 300

/** Web app manifest of the site (https://www.w3.org/TR/appmanifest), which makes the web client installable. */
const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const { current } = yield* Appearance
  const visitors = yield* Visitors
  const manifest = Effect.gen(function*() {
    const { accentColor, description, title } = yield* current
    const { words: { say, tag } } = yield* visitors.reader
    const theme = accentColor === null ? palette.light.accent : accentOf(accentColor, "light").accent
    return HttpServerResponse.text(
      JSON.stringify(Object.fromEntries([
        ["id", "/"],
        ["lang", tag],
        ["name", title],
        ["short_name", title],
        ["description", description],
        ["start_url", "/home"],
        ["scope", "/"],
        ["display", "standalone"],
        ["theme_color", theme],
        ["background_color", palette.light.back],
        [
          "shortcuts",
          [
            { name: say("New post"), url: "/publish" },
            { name: say("Notifications"), url: "/notifications" },
            { name: say("Search"), url: "/search" }
          ]
        ],
        ["share_target", { action: "/share", method: "GET", params: { title: "title", text: "text", url: "url" } }],
        [
          "icons",
          iconEdges.map((edge) => ({
            src: publicUrl + iconPath(edge),
            sizes: `${edge}x${edge}`,
            type: "image/png",
            purpose: "any"
          }))
        ]
      ])),
      {
        contentType: "application/manifest+json",
        headers: {
          "cache-control": `public, max-age=${keptSeconds}`,
          vary: "Accept-Language",
          "x-content-type-options": "nosniff"
        }
      }
    )
  })
  return Layer.merge(
    HttpRouter.add("GET", manifestPath, manifest),
    HttpRouter.add("GET", `${manifestPath}.json`, manifest)
  )
})

export const layer = Layer.unwrap(make)
