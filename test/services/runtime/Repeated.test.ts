import { assert, it } from "@effect/vitest"
import { Effect, Logger, References } from "effect"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { repeated } from "../../../src/services/runtime/Repeated.ts"

const lost = new SqlError({ reason: new UnknownError({ cause: new Error("write EPIPE") }) })

/** Returns the log lines and the number of rounds of 10 seconds, with rounds every 5 seconds, of which some fail. */
const tenSeconds = Effect.fnUntraced(function*(fails: (round: number) => Effect.Effect<void, unknown>) {
  const lines: Array<string> = []
  let rounds = 0
  yield* repeated("5 seconds", "the work", Effect.suspend(() => fails(++rounds))).pipe(
    Effect.provide(Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel}: ${message}`))])),
    Effect.provideService(References.MinimumLogLevel, "Info"),
    Effect.forkChild
  )
  yield* TestClock.adjust("10 seconds")
  return { lines, rounds }
})

it.effect("F99: a round that failed once in the database is retried without a warning", () =>
  Effect.gen(function*() {
    const first = (round: number) => round === 1
    const failed = yield* tenSeconds((round) => first(round) ? Effect.fail(lost) : Effect.void)
    assert.deepStrictEqual(failed, { lines: [], rounds: 3 })
    const died = yield* tenSeconds((round) => first(round) ? Effect.die(lost) : Effect.void)
    assert.deepStrictEqual(died, { lines: [], rounds: 3 })
  }))

it.effect("F99: a round that fails twice, or by itself, waits for the next one, with a warning", () =>
  Effect.gen(function*() {
    const away = yield* tenSeconds(() => Effect.fail(lost))
    assert.deepStrictEqual(away, {
      lines: [
        "Warn: the work failed; the next run is on schedule",
        "Warn: the work failed; the next run is on schedule"
      ],
      rounds: 4
    })
    const wrong = yield* tenSeconds((round) => round === 1 ? Effect.die(new Error("wrong")) : Effect.void)
    assert.deepStrictEqual(wrong, { lines: ["Warn: the work failed; the next run is on schedule"], rounds: 3 })
  }))
