import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { redirect } from "../../html/HtmlPage.ts"

/** Maximum characters of each text that a link shares. */
const sharedCharactersMax = 2_000

const queryOf = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => new URLSearchParams(url.split("?", 2)[1] ?? "")
)

/** Returns the composer's path for shared texts: title, text and link, each on its own line. */
const composerWith = (query: URLSearchParams): string => {
  const parts = ["title", "text", "url"].map((name) => (query.get(name) ?? "").trim().slice(0, sharedCharactersMax))
  return `/publish?${new URLSearchParams({ text: parts.filter((part) => part !== "").join("\n") })}`
}

/** Returns where a link of the scheme `web+ap` or `web+mastodon` leads; undefined for any other link. */
const intentOf = (uri: string): string | undefined => {
  const [, rest] = /^web\+(?:ap|mastodon):\/\/(.+)$/i.exec(uri.slice(0, 2 * sharedCharactersMax)) ?? []
  if (rest === undefined) return undefined
  const [place = "", search = ""] = rest.split("?", 2)
  const query = new URLSearchParams(search)
  const name = place.replace(/\/$/, "")
  if (name === "share") return composerWith(query)
  if (name === "follow") return `/authorize_interaction?${new URLSearchParams({ uri: query.get("uri") ?? "" })}`
  return `/authorize_interaction?${new URLSearchParams({ uri: `https://${rest}` })}`
}

/** Links that other sites and apps use to fill the composer. */
export const layer = Layer.mergeAll(
  HttpRouter.add("GET", "/share", Effect.map(queryOf, (query) => redirect(composerWith(query)))),
  HttpRouter.add(
    "GET",
    "/intent",
    Effect.map(queryOf, (query) => redirect(intentOf(query.get("uri") ?? "") ?? "/publish"))
  )
)
