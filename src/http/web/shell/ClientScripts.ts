import { Context, Effect, Layer } from "effect"
import { readClientScript } from "../../html/ClientScript.ts"
import { type Html, html } from "../../html/Html.ts"
import { hashedFile } from "./HashedFile.ts"

/**
 * Scripts of pages, by name: TypeScript beside the page that they enliven. A script may import those above it. They are
 * served with their types stripped; a page names the ones that it needs in `View.scripts`.
 */
const files = {
  parts: "./parts.client.ts",
  resubmission: "./resubmission.client.ts",
  focal: "./focal.client.ts",
  crop: "../settings/crop.client.ts",
  gather: "../live/gather.client.ts",
  follow: "../account/follow.client.ts",
  badge: "../live/badge.client.ts",
  read: "../notifications/read.client.ts",
  insertion: "../compose/insertion.client.ts",
  completion: "../compose/completion.client.ts",
  emojis: "../compose/emojis.client.ts",
  files: "../compose/files.client.ts",
  typed: "../compose/typed.client.ts",
  drafts: "../compose/drafts.client.ts",
  unsaved: "../compose/unsaved.client.ts",
  compose: "../compose/compose.client.ts",
  signout: "../compose/signout.client.ts",
  viewer: "../viewer/viewer.client.ts",
  acts: "../acts/acts.client.ts",
  dialogs: "../acts/dialogs.client.ts",
  changes: "../live/changes.client.ts",
  insertions: "../live/insertions.client.ts",
  dismissed: "../notifications/dismissed.client.ts",
  marker: "../live/marker.client.ts",
  live: "../live/live.client.ts",
  places: "../keys/places.client.ts",
  keys: "../keys/keys.client.ts",
  offline: "../offline/offline.client.ts",
  push: "../offline/push.client.ts"
} as const

export type ScriptName = keyof typeof files

/** Scripts of each page of a member. */
export const memberScripts = [
  "resubmission",
  "viewer",
  "acts",
  "dialogs",
  "live",
  "keys",
  "offline",
  "signout"
] as const

const names: ReadonlyArray<ScriptName> = Object.keys(files).filter((name): name is ScriptName => name in files)

/** Matches an import of another script, up to the end of its path. */
const imports = /(\bfrom\s*|\bimport\s*\(?\s*)"[^"]*?\/(\w+)\.client\.ts"/g

/** Scripts that run in browsers. */
export class ClientScripts extends Context.Service<ClientScripts, {
  /** Renders the elements that preload and load scripts, for the head of a page. */
  readonly tags: (names: ReadonlyArray<ScriptName>) => Html
}>()("murmuration/http/web/shell/ClientScripts") {
  /** Reads the scripts, and serves each below a path with its hash. */
  static readonly layer = Layer.unwrap(Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const served = new Map<string, ReturnType<typeof hashedFile>>()
  for (const name of names) {
    const text = (yield* readClientScript(new URL(files[name], import.meta.url))).replace(
      imports,
      (_, before: string, other: string) => `${before}"${served.get(other)?.path ?? other}"`
    )
    served.set(name, hashedFile(name, "js", "text/javascript", text))
  }
  const scripts = ClientScripts.of({
    tags: (names) =>
      html`${
        [...new Set(names)].flatMap((name) => served.get(name)?.path ?? []).map((path) =>
          html`<script type="module" src="${path}"></script>
`
        )
      }`
  })
  return Layer.mergeAll(Layer.succeed(ClientScripts, scripts), ...Array.from(served.values(), ({ route }) => route))
})
