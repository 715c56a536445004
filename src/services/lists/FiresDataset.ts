import { Data, Effect, Option, Schema } from "effect"
import { type ListAction, listedDomain, listEntriesMax, type ListEntry, plainEntry } from "./ListEntry.ts"

/** Maximum pages read of a collection, and items that are read before yielding. */
const pagesMax = 200
const itemsPerTurn = 200
/** Maximum characters of a stored URL. */
const cursorCharactersMax = 2_000
/** Time for which only changes are read; after it the whole list is read again, in milliseconds. */
const wholeMillis = 7 * 86_400_000

/** Reason why a list was not read, for staff. */
export class ListReadFailed extends Data.TaggedError("ListReadFailed")<{ readonly why: string }> {}
const unread = (why: string) => new ListReadFailed({ why })

/**
 * Position in the changes of a list: the URL of later changes, and when the whole list was read, in milliseconds since
 * 1970.
 */
export interface ListCursor {
  readonly url: string
  readonly wholeAt: number
}

/** Result of reading a list: all entries, or the changed ones since the cursor (undefined if removed). */
export type ListReading =
  | { readonly isComplete: true; readonly entries: ReadonlyArray<ListEntry>; readonly cursor: string | null }
  | {
    readonly isComplete: false
    readonly changes: ReadonlyMap<string, ListEntry | undefined>
    readonly cursor: string
  }

/**
 * FIRES (fires.fedimod.org) statement about an entity, in its current and its former vocabulary; everything else is
 * ignored.
 */
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
  /** For snapshots: URL of the later changes. */
  changes: Schema.optionalKey(Schema.Unknown)
})
type Page = typeof Page.Type
const Dataset = Schema.Struct({
  endpoints: Schema.optionalKey(Schema.Struct({
    snapshot: Schema.optionalKey(Schema.String),
    changes: Schema.optionalKey(Schema.String)
  }))
})
/** Returns true if a document has any field of a page of items. */
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

/** The last statement about each domain of a collection (undefined if removed), and links of its pages. */
interface Collected {
  readonly statements: ReadonlyMap<string, ListEntry | undefined>
  /** `last` of the last page that has one, and `changes` of the first page. */
  readonly last: unknown
  readonly changes: unknown
}

/** Returns a reader of datasets through this client: whole, or the changes since a cursor. Call it once. */
export const make = (json: (url: string) => Effect.Effect<unknown, ListReadFailed>, localDomain: string) => {
  const statementOf = (item: unknown) => {
    const change = Option.getOrUndefined(changeIn(item))
    const kind = change?.entityKind ?? change?.entity?.type
    const key = change?.entityKey ?? change?.entity?.value ?? ""
    const domain = kind?.toLowerCase() === "domain" ? listedDomain(key, localDomain) : undefined
    if (change === undefined || domain === undefined) return undefined
    const policy = change.recommendedPolicy ?? change["recommended_policy"] ?? ""
    const action = change.type === "Recommendation" ? policies.get(policy) : undefined
    return { domain, entry: action === undefined ? undefined : plainEntry(domain, action) }
  }

  /** Adds a page's statements in its order; the first about a domain counts if the newest one comes first. */
  const addStatements = Effect.fnUntraced(
    function*(into: Map<string, ListEntry | undefined>, items: ReadonlyArray<unknown>, newestFirst: boolean) {
      for (const [at, item] of items.entries()) {
        if (at % itemsPerTurn === itemsPerTurn - 1) yield* Effect.yieldNow
        const statement = statementOf(item)
        if (statement === undefined || (newestFirst && into.has(statement.domain))) continue
        into.set(statement.domain, statement.entry)
      }
    }
  )

  /** Reads all pages of a collection. Keeps its statements only, as pages of a hostile server would fill the memory. */
  const collection = Effect.fnUntraced(function*(start: string, newestFirst: boolean) {
    const statements = new Map<string, ListEntry | undefined>()
    const seen = new Set<string>()
    let links: { readonly last: unknown; readonly changes: unknown } | undefined
    let count = 0
    let next: unknown = start
    while (next !== undefined && next !== null) {
      if (seen.size >= pagesMax || count > listEntriesMax * 2) return yield* unread("it is too long")
      let document: unknown = next
      if (typeof next === "string") {
        const address = URL.parse(next, start)?.href
        // Pages must stay on the host and must not repeat.
        if (address === undefined || seen.has(address) || URL.parse(address)?.origin !== URL.parse(start)?.origin) {
          return yield* unread("its pages repeat or leave its host")
        }
        seen.add(address)
        document = yield* json(address)
      }
      const page = Option.getOrUndefined(pageIn(document))
      // An error in JSON would be a list that names nothing, and lift all blocks.
      if (page === undefined || !isPage(page)) return yield* unread("it is not a collection")
      const items = page.orderedItems ?? page.items ?? []
      yield* addStatements(statements, items, newestFirst)
      links = { last: page.last ?? links?.last, changes: links === undefined ? page.changes : links.changes }
      count += items.length
      next = page.next ?? page.first
    }
    return { statements, last: links?.last, changes: links?.changes } satisfies Collected
  })

  /** Returns a URL of the dataset's changes, to read later ones from; null for any other URL. */
  const cursorAt = (address: unknown, changes: string | undefined, base: string) => {
    const url = typeof address === "string" ? URL.parse(address, base) : null
    const feed = changes === undefined ? null : URL.parse(changes, base)
    const isFeed = url !== null && url.origin === feed?.origin && url.pathname === feed.pathname && url.search !== ""
    return isFeed && url.href.length <= cursorCharactersMax ? url.href : null
  }

  return Effect.fnUntraced(
    function*(url: string, cursor: ListCursor | undefined, now: number): Effect.fn.Return<ListReading, ListReadFailed> {
      const { changes, snapshot } = Option.getOrUndefined(datasetIn(yield* json(url)))?.endpoints ?? {}
      const start = snapshot ?? changes
      if (start === undefined) return yield* unread("it is not a FIRES dataset")
      const known = cursor !== undefined && now >= cursor.wholeAt && now - cursor.wholeAt < wholeMillis
        ? cursorAt(cursor.url, changes, url)
        : null
      // Without usable changes, reads the whole list.
      const later = known === null
        ? undefined
        : yield* Effect.orElseSucceed(collection(known, false), () => undefined)
      if (known !== null && later !== undefined) {
        return { isComplete: false, changes: later.statements, cursor: cursorAt(later.last, changes, url) ?? known }
      }
      // Snapshots are newest first, changes oldest first.
      const whole = yield* collection(URL.parse(start, url)?.href ?? start, snapshot !== undefined)
      const entries = [...whole.statements.values()].flatMap((entry) => entry ?? [])
      if (entries.length > listEntriesMax) return yield* unread("it is too long")
      const lastChange = snapshot === undefined ? whole.last : whole.changes
      return { isComplete: true, entries, cursor: cursorAt(lastChange, changes, url) }
    }
  )
}
