import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { traced } from "../runtime/Traced.ts"

/** Owner of a file: exactly one. */
type Holder =
  | { readonly mediaId: bigint }
  | { readonly accountId: bigint }
  | { readonly emojiId: bigint }
  | { readonly setting: string }
  | { readonly cardId: bigint }
  | { readonly transferId: bigint }

/** SQL condition: a row of stored_files has no owner. */
export const unheldFile =
  "media_id IS NULL AND account_id IS NULL AND emoji_id IS NULL AND setting IS NULL AND card_id IS NULL " +
  "AND transfer_id IS NULL"

/** Owners of stored files, written in the transaction of the owning row. */
export class FileOwners extends Context.Service<FileOwners, {
  /** Assigns files to an owner; returns true if all existed without one. If false, the owner must not name them. */
  readonly hold: (names: ReadonlyArray<string>, holder: Holder) => Effect.Effect<boolean, SqlError>
  /** Removes the owner from files; the sweep or `StoredFiles.discard` deletes them later. */
  readonly release: (names: ReadonlyArray<string>) => Effect.Effect<void, SqlError>
}>()("murmuration/services/media/FileOwners") {
  static readonly layer = Layer.effect(
    FileOwners,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return FileOwners.of({
        hold: traced("FileOwners.hold")(function*(names: ReadonlyArray<string>, holder: Holder) {
          const rows = yield* sql`UPDATE stored_files SET ${sql.update({ ...holder })}
            WHERE name = ANY (${names}::text[]) AND doomed_at IS NULL AND ${sql.literal(unheldFile)} RETURNING name`
          return rows.length === names.length
        }),
        release: traced("FileOwners.release")((names: ReadonlyArray<string>) =>
          Effect.asVoid(sql`UPDATE stored_files SET media_id = NULL, account_id = NULL, emoji_id = NULL, setting = NULL,
              card_id = NULL, transfer_id = NULL
            WHERE name = ANY (${names}::text[])`)
        )
      })
    })
  )
}
