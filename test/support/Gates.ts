import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"

/** Maximum rounds in which a request timed out before all had reached the gate. */
const roundsMax = 10

/**
 * Runs requests that write rows of a table concurrently: each write waits until all requests have reached it or wait
 * for one that has. If they time out before, as on a busy machine, nothing was written, and they are sent again. Returns
 * the responses in the order of the requests.
 */
export const behindGate = Effect.fnUntraced(
  function*<A, E, R>(table: string, event: "INSERT" | "UPDATE", requests: ReadonlyArray<Effect.Effect<A, E, R>>) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE OR REPLACE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NEW; END'`
    yield* sql.unsafe(`CREATE TRIGGER gate BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION gate()`)
    const round = Effect.gen(function*() {
      const closed = yield* Deferred.make<void>()
      // Forked here, so that the requests do not run in the transaction that holds the gate.
      const running = yield* Effect.forkDetach(
        Effect.andThen(Deferred.await(closed), Effect.all(requests, { concurrency: "unbounded" }))
      )
      const met = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT pg_advisory_xact_lock(77)`
        yield* Deferred.succeed(closed, undefined)
        const waiting = eventually(
          sql<{ waiting: number }>`SELECT count(DISTINCT pid)::int AS waiting FROM pg_locks WHERE NOT granted`,
          ([row]) => row!.waiting >= requests.length
        )
        return yield* Effect.raceFirst(Effect.as(waiting, true), Effect.as(Fiber.await(running), false))
      }))
      return { met, responses: yield* Fiber.join(running) }
    })
    let last = yield* round
    for (let count = 1; !last.met && count < roundsMax; count++) last = yield* round
    yield* sql.unsafe(`DROP TRIGGER gate ON ${table}`)
    assert.isTrue(last.met, "the requests never met")
    return last.responses
  }
)

/**
 * Asserts that at most one of concurrent requests succeeded and all others were refused. A 503 (timeout) is
 * inconclusive: that request is sent again when the table is full.
 */
export const assertOneSucceeded = Effect.fnUntraced(function*<A extends { readonly status: number }, E, R>(
  responses: ReadonlyArray<A>,
  requests: ReadonlyArray<Effect.Effect<A, E, R>>
) {
  const settled = yield* Effect.forEach(
    responses,
    (response, number) =>
      response.status === 503 ? eventually(requests[number]!, ({ status }) => status !== 503) : Effect.succeed(response)
  )
  const statuses = settled.map(({ status }) => status)
  const rest = statuses.filter((status) => status !== 422)
  assert.isTrue(rest.length <= 1 && rest.every((status) => status < 300), String(statuses))
})
