import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import type { DocumentType } from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { traced } from "../Traced.ts"
import * as BlockCsv from "./BlockCsv.ts"
import { type ListAction, listedDomain, listEntriesMax, type ListEntry, plainEntry } from "./ListEntry.ts"

/** Bytes of a list, or of one page of a dataset; pages that are read. */
const listBytesMax = 8_388_608
const pagesMax = 200

/** Why a list was not read, for staff. */
class ListUnread extends Data.TaggedError("ListUnread")<{ readonly why: string }> {}

interface Source {
  readonly url: string
  readonly type: "csv" | "fires"
  readonly action: "accept" | "reject"
}

const isText: DocumentType = {
  accept: "text/csv, text/plain;q=0.9, application/octet-stream;q=0.5",
  accepts: (type) => ["text/csv", "text/plain", "application/csv", "application/octet-stream"].includes(type)
}
const isJson: DocumentType = {
  accept: "application/ld+json, application/json",
  accepts: (type) => /^application\/(?:[\w.-]+\+)?json$/.test(type)
}

/** What FIRES (fires.fedimod.org) says of an entity; what else there is means nothing here. */
const Change = Schema.Struct({
  type: Schema.String,
  entityKind: Schema.optionalKey(Schema.String),
  entityKey: Schema.optionalKey(Schema.String),
  recommendedPolicy: Schema.optionalKey(Schema.String)
})
const Page = Schema.Struct({
  orderedItems: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  items: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  first: Schema.optionalKey(Schema.Unknown),
  next: Schema.optionalKey(Schema.Unknown)
})
const Dataset = Schema.Struct({
  endpoints: Schema.optionalKey(Schema.Struct({
    snapshot: Schema.optionalKey(Schema.String),
    changes: Schema.optionalKey(Schema.String)
  }))
})
const changeIn = Schema.decodeUnknownOption(Change)
const pageIn = Schema.decodeUnknownOption(Page)
const datasetIn = Schema.decodeUnknownOption(Dataset)

const policies: ReadonlyMap<string, ListAction> = new Map([
  ["accept", "accept"],
  ["filter", "limit"],
  ["reject", "reject"],
  ["drop", "reject"]
])

/** Fetches lists, each whole: through the guarded client, within bounds. */
export class ListDocuments extends Context.Service<ListDocuments, {
  readonly fetch: (source: Source) => Effect.Effect<ReadonlyArray<ListEntry>, ListUnread>
}>()("murmuration/services/lists/ListDocuments") {
  static readonly layer = Layer.effect(
    ListDocuments,
    Effect.gen(function*() {
      const outbound = yield* Outbound
      const { localDomain } = yield* ServerConfig
      const unread = (why: string) => new ListUnread({ why })

      const csv = Effect.fnUntraced(function*({ action, url }: Source) {
        const { value } = yield* outbound.text({ url, type: isText, bytesMax: listBytesMax }).pipe(
          Effect.mapError(({ message }) => unread(message))
        )
        const found = yield* BlockCsv.read(value, action, localDomain)
        if (found === undefined) return yield* unread(`it is no CSV of ${listEntriesMax} rows at most`)
        // An error page that calls itself a text would lift all blocks.
        if (found.entries.length === 0 && found.skipped > 0) return yield* unread("no row of it names a domain")
        return found.entries
      })

      const json = (url: string) =>
        outbound.json({ url, type: isJson, bytesMax: listBytesMax }).pipe(
          Effect.mapError(({ message }) => unread(message))
        )

      /** The items of a collection, page by page. */
      const collection = Effect.fnUntraced(function*(start: string) {
        const items: Array<unknown> = []
        const seen = new Set<string>()
        let next: unknown = start
        while (next !== undefined && next !== null) {
          if (seen.size >= pagesMax || items.length > listEntriesMax * 2) return yield* unread("it is too long")
          let document: unknown = next
          if (typeof next === "string") {
            const address = URL.parse(next, start)?.href
            // What leads on stays at its host, and does not lead back.
            if (address === undefined || seen.has(address) || URL.parse(address)?.origin !== URL.parse(start)?.origin) {
              return yield* unread("its pages do not lead on")
            }
            seen.add(address)
            document = (yield* json(address)).value
          }
          const page = Option.getOrUndefined(pageIn(document))
          if (page === undefined) return yield* unread("it is no collection")
          items.push(...page.orderedItems ?? page.items ?? [])
          next = page.next ?? page.first
        }
        return items
      })

      const fires = Effect.fnUntraced(function*({ url }: Source) {
        const dataset = Option.getOrUndefined(datasetIn((yield* json(url)).value))
        const { changes, snapshot } = dataset?.endpoints ?? {}
        const start = snapshot ?? changes
        if (start === undefined) return yield* unread("it is no dataset of FIRES")
        const items = yield* collection(URL.parse(start, url)?.href ?? start)
        // A snapshot has the newest first, changes come as they were made.
        const inOrder = snapshot === undefined ? items : items.toReversed()
        const found = new Map<string, ListEntry>()
        for (const item of inOrder) {
          const change = Option.getOrUndefined(changeIn(item))
          const domain = change?.entityKind?.toLowerCase() === "domain"
            ? listedDomain(change.entityKey ?? "", localDomain)
            : undefined
          if (change === undefined || domain === undefined) continue
          const action = change.type === "Recommendation" ? policies.get(change.recommendedPolicy ?? "") : undefined
          if (action === undefined) found.delete(domain)
          else found.set(domain, plainEntry(domain, action))
        }
        if (found.size > listEntriesMax) return yield* unread("it is too long")
        return [...found.values()]
      })

      return ListDocuments.of({
        fetch: traced("ListDocuments.fetch")((source) => source.type === "csv" ? csv(source) : fires(source))
      })
    })
  )
}
