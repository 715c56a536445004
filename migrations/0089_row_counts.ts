import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const tables = ["domain_blocks", "domain_allows", "email_domain_blocks", "canonical_email_blocks", "ip_blocks"]

/** Number of rows of large bounded tables, kept by triggers, so that an import does not count the table for each row. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE row_counts (name text PRIMARY KEY, rows bigint NOT NULL)`
  yield* sql`COMMENT ON TABLE row_counts IS 'Number of rows of large bounded tables, kept by triggers.'`
  yield* sql`CREATE FUNCTION rows_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO row_counts (name, rows)
      SELECT TG_TABLE_NAME, count(*) * CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END FROM changed HAVING count(*) > 0
      ON CONFLICT (name) DO UPDATE SET rows = row_counts.rows + excluded.rows;
      RETURN NULL;
    END $$`
  for (const table of tables) {
    for (const [event, rows] of [["INSERT", "NEW"], ["DELETE", "OLD"]] as const) {
      const name = `${table}_${event.toLowerCase()}ed`
      yield* sql`CREATE TRIGGER ${sql(name)} AFTER ${sql.literal(event)} ON ${sql(table)}
        REFERENCING ${sql.literal(rows)} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION rows_changed()`
      yield* sql`ALTER TABLE ${sql(table)} ENABLE ALWAYS TRIGGER ${sql(name)}`
    }
    // The triggers lock out other nodes that still write, so that no row is missed.
    yield* sql`INSERT INTO row_counts (name, rows) SELECT ${table}, count(*) FROM ${sql(table)}`
  }
})
