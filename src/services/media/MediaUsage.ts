import { Context, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { Storage, type StorageFailed } from "./Storage.ts"

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

/** Maximum files compared by one query. */
const comparedMax = 1_000

export interface Amount {
  readonly files: number
  readonly bytes: number
}

const UsageKind = Schema.Literals(["attachments", "profiles", "emoji", "site", "cards", "waiting"])
type UsageKind = typeof UsageKind.Type
const ledgerRows = rowsOf(Schema.Struct({ kind: UsageKind, files: Schema.Int, bytes: Schema.BigInt }))

/** Files of the ledger by kind of owner; `waiting` ones have none, or none yet. */
type LedgerUsage = Readonly<Record<UsageKind, Amount>>

/** Files in the storage, and those that the ledger does not know. */
interface StoredUsage {
  readonly stored: Amount
  readonly unknown: ReadonlyArray<{ readonly name: string; readonly bytes: number }>
}

const none: Amount = { files: 0, bytes: 0 }

/** Storage usage of files. */
export class MediaUsage extends Context.Service<MediaUsage, {
  readonly ledger: Effect.Effect<LedgerUsage>
  /** Lists the whole storage, which takes long if it is large. */
  readonly storage: Effect.Effect<StoredUsage, StorageFailed>
  /** Deletes files that the ledger does not know. A file's row is created before the file and deleted after it. */
  readonly removeUnknown: Effect.Effect<Amount, StorageFailed>
}>()("murmuration/services/media/MediaUsage") {
  static readonly layer = Layer.effect(
    MediaUsage,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const storage = yield* Storage

      const ledger = ledgerRows(sql`
        SELECT CASE WHEN media_id IS NOT NULL THEN 'attachments' WHEN account_id IS NOT NULL THEN 'profiles'
            WHEN emoji_id IS NOT NULL THEN 'emoji' WHEN setting IS NOT NULL THEN 'site'
            WHEN card_id IS NOT NULL THEN 'cards' ELSE 'waiting' END AS kind,
          count(*)::int AS files, coalesce(sum(bytes), 0)::bigint AS bytes
        FROM stored_files GROUP BY 1`).pipe(
        Effect.map((rows) => {
          const found = new Map(rows.map(({ bytes, files, kind }) => [kind, { files, bytes: Number(bytes) }]))
          const of = (kind: UsageKind) => found.get(kind) ?? none
          return {
            attachments: of("attachments"),
            profiles: of("profiles"),
            emoji: of("emoji"),
            site: of("site"),
            cards: of("cards"),
            waiting: of("waiting")
          }
        }),
        Effect.orDie,
        Effect.withSpan("MediaUsage.ledger")
      )

      const known = (names: ReadonlyArray<string>) =>
        Effect.map(
          Effect.orDie(nameRows(sql`SELECT name FROM stored_files WHERE name = ANY (${names}::text[])`)),
          (rows) => new Set(rows.map(({ name }) => name))
        )

      const stored = Stream.grouped(storage.list, comparedMax).pipe(
        Stream.mapEffect((files) =>
          Effect.map(known(files.map(({ name }) => name)), (names) => ({
            files,
            unknown: files.filter(({ name }) => !names.has(name))
          }))
        ),
        Stream.runFold(
          (): StoredUsage => ({ stored: none, unknown: [] }),
          (all, page) => ({
            stored: {
              files: all.stored.files + page.files.length,
              bytes: page.files.reduce((sum, { bytes }) => sum + bytes, all.stored.bytes)
            },
            unknown: [...all.unknown, ...page.unknown]
          })
        ),
        Effect.withSpan("MediaUsage.storage")
      )

      const removeUnknown = traced("MediaUsage.removeUnknown")(function*() {
        const { unknown } = yield* stored
        yield* Effect.forEach(unknown, ({ name }) => storage.remove(name), { concurrency: 4, discard: true })
        return { files: unknown.length, bytes: unknown.reduce((sum, { bytes }) => sum + bytes, 0) }
      })

      return MediaUsage.of({ ledger, storage: stored, removeUnknown: removeUnknown() })
    })
  )
}
