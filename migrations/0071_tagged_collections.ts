import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Collections linked in posts, and items of remote collections whose accounts are not known here yet, by the account's
 * URI.
 */
const statements = [
  `CREATE TABLE tagged_collections (
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    place smallint NOT NULL,
    uri text NOT NULL,
    -- Null until it is known here.
    collection_id bigint REFERENCES collections (id) ON DELETE CASCADE,
    PRIMARY KEY (status_id, place)
  )`,
  `CREATE INDEX tagged_collections_collection ON tagged_collections (collection_id) WHERE collection_id IS NOT NULL`,
  `ALTER TABLE collection_items ADD COLUMN account_uri text`,
  `CREATE INDEX collection_items_claimed ON collection_items (collection_id) WHERE account_uri IS NOT NULL`,
  `CREATE INDEX collection_items_approval ON collection_items (approval_uri) WHERE approval_uri IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
