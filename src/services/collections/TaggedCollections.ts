import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { idRows, rowsOf } from "../database/Rows.ts"
import { collectionAt } from "../discovery/LocalUrls.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { Jobs } from "../intents/Jobs.ts"
import { traced } from "../runtime/Traced.ts"

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))

/** Collections of accounts that posts link to; called in the transaction that writes the post. */
export class TaggedCollections extends Context.Service<TaggedCollections, {
  /**
   * Attaches known collections to a new post. For a remote post (`theirs`), a job fetches the unknown ones of other
   * servers.
   */
  readonly attach: (
    statusId: bigint,
    addresses: ReadonlyArray<string>,
    theirs: boolean
  ) => Effect.Effect<void, SqlError>
  /** Replaces or removes the collections of an edited post. */
  readonly replace: (
    statusId: bigint,
    addresses: ReadonlyArray<string>,
    theirs: boolean
  ) => Effect.Effect<void, SqlError>
  /** Returns the URLs of collections still to be fetched for a post. */
  readonly waiting: (statusId: bigint) => Effect.Effect<ReadonlyArray<string>, SqlError>
  /** Attaches collections that have become known; returns true if there was any. */
  readonly settle: (statusId: bigint) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/collections/TaggedCollections") {
  static readonly layer = Layer.effect(
    TaggedCollections,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const config = yield* ServerConfig
      const jobs = yield* Jobs

      /**
       * SQL expression: the collection at the URL of a row `t`, local or remote; not one of which only the URL is
       * known.
       */
      const known: Fragment = sql`coalesce((SELECT c.id FROM collections c WHERE c.id = t.own AND c.local
          AND t.owner IN (0, c.account_id)),
        (SELECT c.id FROM collections c WHERE t.own = 0 AND c.uri = t.uri AND c.name <> ''),
        (SELECT c.id FROM collections c WHERE t.own = 0 AND c.url = t.uri AND c.name <> '' ORDER BY c.id LIMIT 1))`
      const named = (addresses: ReadonlyArray<string>) => {
        const ours = addresses.map((address) => collectionAt(config, address))
        return sql`unnest(${addresses}::text[], ${ours.map((one) => one?.id ?? 0n)}::bigint[],
          ${ours.map((one) => one?.accountId ?? 0n)}::bigint[]) WITH ORDINALITY t (uri, own, owner, place)`
      }

      const attach: TaggedCollections["Service"]["attach"] = traced("TaggedCollections.attach")(
        function*(statusId, addresses, theirs) {
          if (addresses.length === 0) return
          // Two URLs of one collection count once.
          yield* tracked("status", [statusId])(sql`INSERT INTO tagged_collections (status_id, place, uri, collection_id)
            SELECT DISTINCT ON (coalesce(id::text, uri)) ${statusId}::bigint, place, uri, id
            FROM (SELECT t.uri, t.own, t.place, ${known} AS id FROM ${named(addresses)}) t
            WHERE id IS NOT NULL OR (${theirs} AND own = 0) ORDER BY coalesce(id::text, uri), place`)
          if (theirs && (yield* waiting(statusId)).length > 0) yield* jobs.enqueue("tagged", statusId)
        }
      )
      const waiting = traced("TaggedCollections.waiting")((statusId: bigint) =>
        Effect.map(
          uriRows(
            sql`SELECT t.uri FROM tagged_collections t JOIN statuses s ON s.id = t.status_id AND s.deleted_at IS NULL
            WHERE t.status_id = ${statusId} AND t.collection_id IS NULL ORDER BY t.place`
          ),
          (rows) => rows.map(({ uri }) => uri)
        )
      )

      return TaggedCollections.of({
        attach,
        replace: traced("TaggedCollections.replace")((statusId, addresses, theirs) =>
          Effect.andThen(
            tracked("status", [statusId])(sql`DELETE FROM tagged_collections WHERE status_id = ${statusId}`),
            attach(statusId, addresses, theirs)
          )
        ),
        waiting,
        settle: traced("TaggedCollections.settle")((statusId) =>
          Effect.map(
            idRows(
              tracked("status", [statusId])(sql`UPDATE tagged_collections t SET collection_id = c.id FROM collections c
              WHERE t.status_id = ${statusId} AND t.collection_id IS NULL AND c.uri = t.uri AND c.name <> '' AND NOT EXISTS (
                SELECT FROM tagged_collections o WHERE o.status_id = t.status_id AND o.collection_id = c.id)
              RETURNING c.id`)
            ),
            (rows) => rows.length > 0
          )
        )
      })
    })
  )
}
