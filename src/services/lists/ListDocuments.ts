import { Clock, Context, Effect, Layer } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import type { DocumentType } from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { traced } from "../runtime/Traced.ts"
import * as BlockCsv from "./BlockCsv.ts"
import * as FiresDataset from "./FiresDataset.ts"
import { type ListCursor, ListReadFailed, type ListReading } from "./FiresDataset.ts"
import { listEntriesMax } from "./ListEntry.ts"

/** Maximum bytes of a list in CSV, which is read in turns; a page of a dataset is an ordinary document. */
const listBytesMax = 8_388_608
/** Maximum duration of reading a list with all its pages, in seconds. */
export const listSecondsMax = 300

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

/** Fetches lists through the guarded client, within bounds: whole, or the changes since the cursor. */
export class ListDocuments extends Context.Service<ListDocuments, {
  readonly fetch: (source: Source, cursor: ListCursor | undefined) => Effect.Effect<ListReading, ListReadFailed>
}>()("murmuration/services/lists/ListDocuments") {
  static readonly layer = Layer.effect(
    ListDocuments,
    Effect.gen(function*() {
      const outbound = yield* Outbound
      const { localDomain } = yield* ServerConfig
      const unread = (why: string) => new ListReadFailed({ why })

      const csv = Effect.fnUntraced(function*({ action, url }: Source) {
        const { value } = yield* outbound.text({ url, type: isText, bytesMax: listBytesMax }).pipe(
          Effect.mapError(({ message }) => unread(message))
        )
        const found = yield* BlockCsv.read(value, action, localDomain)
        if (found === undefined) return yield* unread(`it is no CSV of ${listEntriesMax} rows at most`)
        // An error page served as text would lift all blocks, and so would an empty one.
        if (found.entries.length === 0 && (found.skipped > 0 || value.trim() === "")) {
          return yield* unread("no row of it names a domain")
        }
        return { isComplete: true, entries: found.entries, cursor: null } as const
      })

      const fires = FiresDataset.make(
        (url) =>
          Effect.mapBoth(outbound.json({ url, type: isJson }), {
            onFailure: ({ message }) => unread(message),
            onSuccess: ({ value }): unknown => value
          }),
        localDomain
      )

      return ListDocuments.of({
        fetch: traced("ListDocuments.fetch")((source, cursor) =>
          (source.type === "csv"
            ? csv(source)
            : Effect.flatMap(Clock.currentTimeMillis, (now) => fires(source.url, cursor, now))).pipe(
              Effect.timeoutOrElse({
                duration: `${listSecondsMax} seconds`,
                orElse: () => unread("it takes too long")
              })
            )
        )
      })
    })
  )
}
