import { Effect, type Redacted } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { OpaqueSecrets } from "./OpaqueSecrets.ts"

/**
 * Uses up sealed secrets that no table holds: a used one is stored as its hash, in a table of `column` and
 * `expires_at`, until it expires.
 */
export const usedOnce = Effect.fnUntraced(function*(sql: SqlClient, table: string, column: string, lifeMillis: number) {
  const secrets = yield* OpaqueSecrets

  /** Uses up a secret, across all nodes; false if it was used before. */
  return Effect.fnUntraced(function*(secret: Redacted.Redacted | string, now: number) {
    yield* sql`DELETE FROM ${sql(table)} WHERE expires_at < ${new Date(now)}`
    const used = yield* sql`INSERT INTO ${sql(table)} (${sql(column)}, expires_at)
      VALUES (${yield* secrets.hash(secret)}, ${new Date(now + lifeMillis)})
      ON CONFLICT DO NOTHING RETURNING 1`
    return used.length > 0
  }, Effect.orDie)
})
