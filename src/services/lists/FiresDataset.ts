import { Data, Effect, Option, Schema } from "effect"
import { type ListAction, listedDomain, listEntriesMax, type ListEntry, plainEntry } from "./ListEntry.ts"

/** Pages of a collection that are read. */
const pagesMax = 200
/** Characters of an address that is kept. */
const cursorCharactersMax = 2_000
/** How long changes are taken over one after the other until the whole is read again, in milliseconds. */
const wholeMillis = 7 * 86_400_000

/** Why a list was not read, for staff. */
export class ListUnread extends Data.TaggedError("ListUnread")<{ readonly why: string }> {}
const unread = (why: string) => new ListUnread({ why })

/** How far the changes of a list are known: an address that tells the later ones, and when the whole was read, in milliseconds since 1970. */
export interface ListCursor {
  readonly url: string
  readonly wholeAt: number
}

/** What a look at a list found: all that it says, or what it says otherwise since the cursor (nothing any more: undefined). */
export type ListReading =
  | { readonly whole: true; readonly entries: ReadonlyArray<ListEntry>; readonly cursor: string | null }
  | { readonly whole: false; readonly changes: ReadonlyMap<string, ListEntry | undefined>; readonly cursor: string }

/** What FIRES (fires.fedimod.org) says of an entity, by its words of now and of before; what else there is means nothing here. */
const Change = Schema.Struct({
  type: Schema.String,
  entityKind: Schema.optionalKey(Schema.String),
  entityKey: Schema.optionalKey(Schema.String),
  recommendedPolicy: Schema.optionalKey(Schema.String),
  entity: Schema.optionalKey(Schema.Struct({ type: Schema.String, value: Schema.String })),
  "recommended_policy": Schema.optionalKey(Schema.String)
})
const Page = Schema.Struct({
  orderedItems: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  items: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  first: Schema.optionalKey(Schema.Unknown),
  last: Schema.optionalKey(Schema.Unknown),
  next: Schema.optionalKey(Schema.Unknown),
  totalItems: Schema.optionalKey(Schema.Unknown),
  /** Of a snapshot: where what changes after it is told. */
  changes: Schema.optionalKey(Schema.Unknown)
})
type Page = typeof Page.Type
const Dataset = Schema.Struct({
  endpoints: Schema.optionalKey(Schema.Struct({
    snapshot: Schema.optionalKey(Schema.String),
    changes: Schema.optionalKey(Schema.String)
  }))
})
/** Returns whether a document says anything of items. */
const isPage = (page: Page) =>
  (["orderedItems", "items", "first", "next", "totalItems"] as const).some((field) => page[field] !== undefined)

const changeIn = Schema.decodeUnknownOption(Change)
const pageIn = Schema.decodeUnknownOption(Page)
const datasetIn = Schema.decodeUnknownOption(Dataset)

const policies: ReadonlyMap<string, ListAction> = new Map([
  ["accept", "accept"],
  ["filter", "limit"],
  ["reject", "reject"],
  ["drop", "reject"]
])

/** Reads datasets through a client, whole or from where their changes were read to. Made once. */
export const make = (json: (url: string) => Effect.Effect<unknown, ListUnread>, localDomain: string) => {
  /** A collection, page by page. */
  const collection = Effect.fnUntraced(function*(start: string) {
    const pages: Array<Page> = []
    const seen = new Set<string>()
    let count = 0
    let next: unknown = start
    while (next !== undefined && next !== null) {
      if (seen.size >= pagesMax || count > listEntriesMax * 2) return yield* unread("it is too long")
      let document: unknown = next
      if (typeof next === "string") {
        const address = URL.parse(next, start)?.href
        // What leads on stays at its host, and does not lead back.
        if (address === undefined || seen.has(address) || URL.parse(address)?.origin !== URL.parse(start)?.origin) {
          return yield* unread("its pages do not lead on")
        }
        seen.add(address)
        document = yield* json(address)
      }
      const page = Option.getOrUndefined(pageIn(document))
      // An error in JSON would be a list that names nothing, and lift all blocks.
      if (page === undefined || !isPage(page)) return yield* unread("it is no collection")
      pages.push(page)
      count += page.orderedItems?.length ?? page.items?.length ?? 0
      next = page.next ?? page.first
    }
    return pages
  })
  const itemsOf = (pages: ReadonlyArray<Page>) =>
    pages.flatMap(({ items, orderedItems }) => orderedItems ?? items ?? [])

  /** What is said last of each domain, of changes in the order in which they were made. */
  const saidLast = (changes: ReadonlyArray<unknown>) => {
    const found = new Map<string, ListEntry | undefined>()
    for (const item of changes) {
      const change = Option.getOrUndefined(changeIn(item))
      const kind = change?.entityKind ?? change?.entity?.type
      const key = change?.entityKey ?? change?.entity?.value ?? ""
      const domain = kind?.toLowerCase() === "domain" ? listedDomain(key, localDomain) : undefined
      if (change === undefined || domain === undefined) continue
      const policy = change.recommendedPolicy ?? change["recommended_policy"] ?? ""
      const action = change.type === "Recommendation" ? policies.get(policy) : undefined
      found.set(domain, action === undefined ? undefined : plainEntry(domain, action))
    }
    return found
  }

  /** An address of the dataset's changes, which is asked from later on; null for any other. */
  const cursorAt = (address: unknown, changes: string | undefined, base: string) => {
    const url = typeof address === "string" ? URL.parse(address, base) : null
    const feed = changes === undefined ? null : URL.parse(changes, base)
    const isFeed = url !== null && url.origin === feed?.origin && url.pathname === feed.pathname && url.search !== ""
    return isFeed && url.href.length <= cursorCharactersMax ? url.href : null
  }

  return Effect.fnUntraced(
    function*(url: string, cursor: ListCursor | undefined, now: number): Effect.fn.Return<ListReading, ListUnread> {
      const { changes, snapshot } = Option.getOrUndefined(datasetIn(yield* json(url)))?.endpoints ?? {}
      const start = snapshot ?? changes
      if (start === undefined) return yield* unread("it is no dataset of FIRES")
      const known = cursor !== undefined && now >= cursor.wholeAt && now - cursor.wholeAt < wholeMillis
        ? cursorAt(cursor.url, changes, url)
        : null
      // What cannot be gone on from is read whole.
      const later = known === null ? undefined : yield* Effect.orElseSucceed(collection(known), () => undefined)
      if (known !== null && later !== undefined) {
        const at = cursorAt(later.findLast(({ last }) => last !== undefined)?.last, changes, url)
        return { whole: false, changes: saidLast(itemsOf(later)), cursor: at ?? known }
      }
      const pages = yield* collection(URL.parse(start, url)?.href ?? start)
      const items = itemsOf(pages)
      // A snapshot has the newest first, changes come as they were made.
      const entries = [...saidLast(snapshot === undefined ? items : items.toReversed()).values()].flatMap((entry) =>
        entry ?? []
      )
      if (entries.length > listEntriesMax) return yield* unread("it is too long")
      const told = snapshot === undefined ? pages.findLast(({ last }) => last !== undefined)?.last : pages[0]?.changes
      return { whole: true, entries, cursor: cursorAt(told, changes, url) }
    }
  )
}
