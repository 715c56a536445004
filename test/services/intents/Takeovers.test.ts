import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Commands, type Owner, StaleOwner } from "../../../src/services/intents/Commands.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

type Work = Effect.Effect<void>
const response = { id: "1", kind: "status" } as const

/** Ways in which an owner writes; each first checks that it still is the owner. */
const ways = {
  once: (owner: Owner, work: Work) =>
    Commands.use(({ runOnce }) => runOnce(owner, "a", undefined, Effect.as(work, response))),
  alone: (owner: Owner, work: Work) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { runAsStatement } = yield* Commands
      const outcome = { kind: "status", family: undefined } as const
      yield* sql.withTransaction(runAsStatement(owner, "a", outcome, ({ ownerRow }) =>
        Effect.gen(function*() {
          const claimed = yield* sql`WITH claim AS MATERIALIZED (${ownerRow}) SELECT FROM claim`
          if (claimed.length === 0) return yield* new StaleOwner()
          yield* work
        })))
    }),
  owned: (owner: Owner, work: Work) => Commands.use(({ owned }) => owned(owner, work)),
  lock: (owner: Owner, work: Work) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { lock } = yield* Commands
      yield* sql.withTransaction(Effect.andThen(lock(owner), work))
    }),
  ownerRow: (owner: Owner, work: Work) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { ownerRow } = yield* Commands
      yield* sql.withTransaction(Effect.gen(function*() {
        const claimed = yield* sql`WITH claim AS MATERIALIZED (${ownerRow(owner)}) SELECT FROM claim`
        if (claimed.length === 0) return yield* new StaleOwner()
        yield* work
      }))
    })
}

layer(Commands.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })("takeovers", (it) => {
  for (const [name, way] of Object.entries(ways)) {
    it.effect(`F61: a new owner of an account waits for the transaction of the previous one (${name})`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { takeOver } = yield* Commands
        const owner = yield* takeOver(yield* person(name))
        const happened: Array<string> = []
        const waits = Effect.orDie(sql`SELECT FROM pg_locks WHERE NOT granted`)
        // Started outside, because otherwise it would be part of the transaction.
        const written = yield* Deferred.make<void>()
        const taking = yield* Deferred.await(written).pipe(
          Effect.andThen(takeOver(owner.accountId)),
          Effect.tap(() => Effect.sync(() => happened.push("taken over"))),
          Effect.forkChild
        )
        yield* way(
          owner,
          Effect.gen(function*() {
            yield* Deferred.succeed(written, undefined)
            while (taking.pollUnsafe() === undefined && (yield* waits).length === 0) yield* Effect.yieldNow
            happened.push("written")
          })
        )
        yield* Fiber.join(taking)
        assert.deepStrictEqual(happened, ["written", "taken over"])
        assert.strictEqual((yield* Effect.flip(way(owner, Effect.void)))._tag, "StaleOwner")
      }))
  }
})
