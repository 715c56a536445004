import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Search } from "../../../services/discovery/Search.ts"
import { CustomEmojis } from "../../../services/instance/CustomEmojis.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { TagViews } from "../../render/TagViews.ts"
import { read } from "../../wire/Keys.ts"
import { WebPages } from "../shell/WebPages.ts"
import { plainName } from "../status/StatusText.ts"

/** Entries of a completion, and characters of a beginning. */
const entriesMax = 6
const charactersMax = 100

/** A completion: the text that replaces the beginning, and how the list shows it. */
interface Completion {
  readonly text: string
  readonly label: string
  readonly image?: string
}

const make = Effect.gen(function*() {
  const accounts = yield* AccountViews
  const emojis = yield* CustomEmojis
  const pages = yield* WebPages
  const search = yield* Search
  const tags = yield* TagViews

  const found = pages.member(Effect.fnUntraced(function*({ query, viewer }) {
    const beginning = (query.get("q") ?? "").slice(0, charactersMax)
    const text = beginning.slice(1)
    const of = Effect.fnUntraced(function*(): Effect.fn.Return<ReadonlyArray<Completion>> {
      if (text === "") return []
      switch (beginning[0]) {
        case "@": {
          const ids = yield* search.accounts(viewer, { text, following: false, limit: entriesMax, offset: 0 })
          return (yield* accounts.render(ids)).map(read).map((account) => ({
            text: `@${account.acct}`,
            label: `${plainName(account)} @${account.acct}`,
            image: account.avatarStatic
          }))
        }
        case "#": {
          const ids = yield* search.tags(text, { limit: entriesMax, offset: 0, reviewed: false })
          return (yield* tags.render(viewer, ids)).map(read).map(({ name }) => ({
            text: `#${name}`,
            label: `#${name}`
          }))
        }
        case ":":
          return (yield* emojis.listed).filter(({ shortcode }) => shortcode.toLowerCase().includes(text.toLowerCase()))
            .slice(0, entriesMax).map(({ shortcode, staticUrl }) => ({
              text: `:${shortcode}:`,
              label: `:${shortcode}:`,
              image: staticUrl
            }))
        default:
          return []
      }
    })
    return HttpServerResponse.jsonUnsafe(yield* of(), { headers: { "cache-control": "private, no-store" } })
  }))
  return HttpRouter.add("GET", "/web/compose/completions", found)
})

/** Completions of names, hashtags and emoji, for the composer's script. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountViews.layer, TagViews.layer]))
