import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { retryDeadlocks } from "../../src/services/database/Transactions.ts"

/** Selects the tables and all tables that refer to them, directly or indirectly. */
const withReferring = (tables: ReadonlyArray<string>) =>
  `WITH RECURSIVE found AS (
      SELECT unnest(ARRAY[${tables.map((table) => `'${table}'::regclass`).join(", ")}])::oid AS id
      UNION SELECT conrelid FROM pg_constraint JOIN found ON confrelid = found.id WHERE contype = 'f')
    SELECT id::regclass::text AS name FROM found WHERE pg_relation_size(id) > 0`

/**
 * Empties tables and all that refer to them. Retries after deadlocks with concurrent reads of the server. Avoids
 * TRUNCATE, for which Postgres recreates every table and index.
 */
export const emptyTables = Effect.fnUntraced(function*(...tables: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  yield* retryDeadlocks(sql)(sql`DO ${
    sql.literal(`$body$ DECLARE filled text; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR filled IN ${withReferring(tables)} LOOP EXECUTE 'DELETE FROM ' || filled; END LOOP;
  END $body$`)
  }`)
})
