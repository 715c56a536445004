import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { Deliveries } from "../../src/services/federation/outbox/Deliveries.ts"
import { Notifications } from "../../src/services/feeds/Notifications.ts"
import { Sessions } from "../../src/services/identity/Sessions.ts"
import { Tokens } from "../../src/services/oauth/Tokens.ts"
import { OpaqueSecrets } from "../../src/services/secrets/OpaqueSecrets.ts"
import { person } from "../support/People.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const services = Layer.mergeAll(Deliveries.layer, Notifications.layer, Sessions.layer, Tokens.layer).pipe(
  Layer.provide(OpaqueSecrets.layer),
  Layer.provide([Broadcast.layerMemory, NodeCrypto.layer]),
  Layer.provideMerge(TestDatabase.layer)
)

const three = [1, 2, 3]

/** A statement that updates three rows, whose numbers are in a column of their table. */
interface Case {
  readonly table: string
  readonly column: string
  readonly rows: (account: AccountId, sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>
  readonly statement: (
    account: AccountId
  ) => Effect.Effect<unknown, unknown, Deliveries | Notifications | Sessions | Tokens>
}

const cases: Record<string, Case> = {
  "all notifications that somebody clears": {
    table: "notifications",
    column: "id",
    rows: (account, sql) =>
      sql`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
        SELECT n, ${account}, 'favourite', ${account}, n, 'epoch' FROM unnest(${three}::bigint[]) n`,
    statement: (account) => Notifications.use(({ clear }) => clear(account))
  },
  "all browsers of somebody that are signed out": {
    table: "sessions",
    column: "user_agent",
    rows: (account, sql) =>
      sql`INSERT INTO sessions (id_hash, account_id, user_agent, created_at, seen_at)
        SELECT decode(lpad(n::text, 64, '0'), 'hex'), ${account}, n::text, 'epoch', 'epoch' FROM unnest(${three}::int[]) n`,
    statement: (account) => Sessions.use(({ endAll }) => endAll(account))
  },
  "all tokens of somebody that are revoked": {
    table: "oauth_tokens",
    column: "id",
    rows: (account, sql) =>
      sql`INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, created_at)
        SELECT n, decode(lpad(n::text, 64, '0'), 'hex'), ${account}, 'read', 'epoch' FROM unnest(${three}::bigint[]) n`,
    statement: (accountId) => Tokens.use(({ revoke }) => revoke({ accountId }))
  }
}

layer(services, { excludeTestServices: true })("a single statement", (it) => {
  for (const [what, { column, rows, statement, table }] of Object.entries(cases)) {
    it.effect(`F20: is retried after Postgres aborted it to resolve a deadlock: ${what}`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const account = yield* person(table)
        yield* rows(account, sql)
        const lock = (numbers: ReadonlyArray<number>) =>
          sql`SELECT FROM ${sql(table)} WHERE ${sql(column)}::text = ANY (${numbers.map(String)}::text[]) FOR UPDATE`
        const meets = yield* Latch.make()
        const alone = yield* Effect.forkChild(Effect.andThen(meets.await, statement(account)))
        yield* sql.withTransaction(Effect.gen(function*() {
          // The other transaction must not be the one that detects the deadlock.
          yield* sql`SET LOCAL deadlock_timeout = '30s'`
          // The statement holds one of the rows, in any order, when it waits for this one.
          yield* lock([2])
          yield* meets.open
          while ((yield* sql`SELECT FROM pg_locks WHERE NOT granted`).length === 0) yield* Effect.yieldNow
          yield* lock([1, 3])
        }))
        assert.isTrue(Exit.isSuccess(yield* Fiber.await(alone)))
      }))
  }
})
