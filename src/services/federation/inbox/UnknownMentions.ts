import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../../database/Ids.ts"
import { rowsOf } from "../../database/Rows.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { Jobs } from "../../intents/Jobs.ts"
import { traced } from "../../runtime/Traced.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"

const waitingRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, uri: Schema.String }))

/** Maximum accounts fetched for one post (row 34); further mentions stay links. */
export const unknownMentionsMax = 10
/** Maximum characters of an id to fetch. */
const uriCharactersMax = 2_000

/**
 * Unknown accounts that a remote post mentions. The post does not wait for them: a job fetches them and adds the
 * mentions.
 */
export class UnknownMentions extends Context.Service<UnknownMentions, {
  /** Stores ids to fetch, in the current transaction of the author's actor. */
  readonly store: (
    statusId: bigint,
    note: Pick<ForeignNote, "addressed" | "mentioned">
  ) => Effect.Effect<void, SqlError>
  /** Returns the post's author, and the ids that are still to be fetched. */
  readonly waiting: (
    statusId: bigint
  ) => Effect.Effect<{ readonly author: AccountId; readonly uris: ReadonlyArray<string> } | undefined, SqlError>
  /** Removes ids that cannot be found. */
  readonly forget: (statusId: bigint, uris: ReadonlyArray<string>) => Effect.Effect<void, SqlError>
  /** Adds mentions of accounts that are now known, in a transaction of the author's actor; false if there were none. */
  readonly settle: (statusId: bigint, author: AccountId) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/federation/inbox/UnknownMentions") {
  static readonly layer = Layer.effect(
    UnknownMentions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const { publicUrl } = yield* ServerConfig
      const jobs = yield* Jobs
      const ours = new URL(publicUrl).host

      const note = traced("UnknownMentions.store")(
        function*(statusId: bigint, { addressed, mentioned }: Pick<ForeignNote, "addressed" | "mentioned">) {
          // Most posts mention no accounts, or only local ones.
          const remoteUris = [...new Set(mentioned)].filter((uri) =>
            uri.length <= uriCharactersMax && (URL.parse(uri)?.host ?? ours) !== ours
          )
          if (remoteUris.length === 0) return
          const added = yield* sql`INSERT INTO unknown_mentions (status_id, uri, addressed)
            SELECT ${statusId}::bigint, n.uri, n.uri = ANY (${addressed}::text[])
            FROM unnest(${remoteUris}::text[]) WITH ORDINALITY n (uri, place)
            WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.uri = n.uri)
            ORDER BY n.place LIMIT ${sql.literal(String(unknownMentionsMax))}
            ON CONFLICT DO NOTHING RETURNING 1`
          if (added.length > 0) yield* jobs.enqueue("mentions", statusId)
        }
      )

      const waiting = traced("UnknownMentions.waiting")(function*(statusId: bigint) {
        const rows = yield* waitingRows(sql`SELECT s.account_id, u.uri
          FROM unknown_mentions u JOIN statuses s ON s.id = u.status_id
          WHERE u.status_id = ${statusId} AND s.deleted_at IS NULL`)
        const [first] = rows
        return first && { author: AccountId.make(first.accountId), uris: rows.map(({ uri }) => uri) }
      })

      const settle = traced("UnknownMentions.settle")(function*(statusId: bigint, author: AccountId) {
        const mentioned = yield* tracked("status", [statusId])(sql`
          WITH known AS (DELETE FROM unknown_mentions u USING accounts a, statuses s
            WHERE u.status_id = ${statusId} AND a.uri = u.uri AND s.id = u.status_id AND s.account_id = ${author}
              AND s.deleted_at IS NULL RETURNING a.id, u.addressed)
          INSERT INTO mentions (status_id, account_id, silent)
          SELECT ${statusId}::bigint, id, NOT addressed FROM known WHERE id <> ${author}
          ON CONFLICT (status_id, account_id) DO NOTHING RETURNING 1`)
        return mentioned.length > 0
      })

      return UnknownMentions.of({
        store: note,
        waiting,
        settle,
        forget: traced("UnknownMentions.forget")((statusId, uris) =>
          Effect.asVoid(
            sql`DELETE FROM unknown_mentions WHERE status_id = ${statusId} AND uri = ANY (${uris}::text[])`
          )
        )
      })
    })
  )
}
