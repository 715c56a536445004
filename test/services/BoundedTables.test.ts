import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { DomainAllows } from "../../src/services/federation/domains/DomainAllows.ts"
import { DomainBlocks } from "../../src/services/federation/domains/DomainBlocks.ts"
import { migrationNamed } from "../support/MigrationFiles.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = Layer.mergeAll(DomainBlocks.layer, DomainAllows.layer).pipe(
  Layer.provide(Broadcast.layerMemory),
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, NodeCrypto.layer))
)

/** Runs a transaction and, after its first part, another one that waits for a lock before the second part. */
const beside = <A, E, R, B, F, S>(
  first: Effect.Effect<unknown, E, R>,
  other: Effect.Effect<A, F, S>,
  second: Effect.Effect<B, E, R>
) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const begun = yield* Deferred.make<void>()
    const running = yield* Effect.forkChild(Effect.andThen(Deferred.await(begun), sql.withTransaction(other)))
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* first
      yield* Deferred.succeed(begun, undefined)
      while ((yield* sql`SELECT FROM pg_locks WHERE NOT granted`).length === 0) yield* Effect.yieldNow
      yield* second
    }))
    return yield* Fiber.await(running)
  })

layer(Live, { excludeTestServices: true })("bounded tables", (it) => {
  it.effect("F150: a transaction that removes a rule and adds another one does not deadlock with an insert", () =>
    Effect.gen(function*() {
      const [blocks, allows] = [yield* DomainBlocks, yield* DomainAllows]
      /**
       * Replaces a rule while another transaction adds one. Neither can retry, because the outer transaction would have
       * to.
       */
      const meets = <E>(
        add: (domain: string) => Effect.Effect<unknown, E>,
        remove: (domain: string) => Effect.Effect<unknown, E>
      ) =>
        Effect.gen(function*() {
          yield* add("old.example")
          return yield* beside(remove("old.example"), add("other.example"), add("new.example"))
        })
      assert.isTrue(Exit.isSuccess(yield* meets((domain) => blocks.block(domain, {}), blocks.unblock)))
      assert.isTrue(Exit.isSuccess(yield* meets((domain) => allows.allow(domain), allows.disallow)))
    }))

  it.effect("F151: rows that another node writes during the migration are counted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP FUNCTION rows_changed CASCADE`
      yield* sql`DROP TABLE row_counts`
      const insert = sql`INSERT INTO email_domain_blocks (id, domain, allow_with_approval, created_at)
        VALUES (1, 'one.example', false, now())`
      const migrated = yield* beside(insert, Effect.flatten(migrationNamed("row_counts")), Effect.void)
      assert.isTrue(Exit.isSuccess(migrated))
      const [counted] = yield* sql`SELECT rows::int AS rows FROM row_counts WHERE name = 'email_domain_blocks'`
      assert.deepStrictEqual(counted, { rows: 1 })
    }))
})
