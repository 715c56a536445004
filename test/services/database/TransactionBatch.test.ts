import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { atCommit, batched, inOneTransaction } from "../../../src/services/database/TransactionBatch.ts"

/** Makes two kinds of queries and one of writes, and records their statements. */
const database = () => {
  const statements: Array<string> = []
  const statement = (kind: string, keys: ReadonlyArray<number>) =>
    Effect.sync(() => {
      statements.push(`${kind} ${keys.join(",")}`)
      return (key: number) => key + 1
    })
  return {
    statements,
    read: batched((keys: ReadonlyArray<number>) => statement("read", keys)),
    other: batched((keys: ReadonlyArray<number>) => statement("other", keys)),
    write: batched((keys: ReadonlyArray<number>) => statement("write", keys), "writes"),
    last: atCommit((keys: ReadonlyArray<number>) => Effect.asVoid(statement("last", keys)))
  }
}

it.effect("concurrent work batches its queries, however many steps each takes", () =>
  Effect.gen(function*() {
    const { last, other, read, statements, write } = database()
    const long = (key: number) =>
      Effect.gen(function*() {
        yield* last(key)
        return (yield* write(yield* read(key))) + (yield* other(key))
      })
    const exits = yield* inOneTransaction([long(1), long(10), other(5), Effect.succeed(7), long(20)])
    assert.deepStrictEqual(exits, [5, 23, 6, 7, 43].map((value) => Exit.succeed(value)))
    assert.deepStrictEqual(statements, ["read 1,10,20", "other 5", "write 2,11,21", "other 1,10,20", "last 1,10,20"])
  }))

it.effect("alone, and when the others have ended, each queries and writes for itself", () =>
  Effect.gen(function*() {
    const { last, read, statements } = database()
    assert.strictEqual(yield* read(1), 2)
    yield* last(1)
    let later: Effect.Effect<number> = Effect.succeed(0)
    yield* inOneTransaction([Effect.withFiber((fiber) => {
      const context = fiber.context
      later = Effect.provideContext(Effect.andThen(last(9), read(9)), context)
      return read(2)
    })])
    assert.strictEqual(yield* later, 10)
    assert.deepStrictEqual(statements, ["read 1", "last 1", "read 2", "last 9", "read 9"])
  }))

it.effect("work that fails before writing fails alone; after writing it takes all others with it, and nothing is committed", () =>
  Effect.gen(function*() {
    const { last, read, statements, write } = database()
    const harmless = Effect.andThen(read(1), Effect.fail("no"))
    const fine = Effect.andThen(read(2), last(2))
    const exits = yield* inOneTransaction([harmless, fine])
    assert.deepStrictEqual(exits, [Exit.fail("no"), Exit.void])
    assert.deepStrictEqual(statements, ["read 1,2", "last 2"])
    const written = Effect.andThen(write(1), Effect.fail("late"))
    assert.deepStrictEqual(yield* Effect.exit(inOneTransaction([written, fine])), Exit.fail("late"))
    const lastWritten = Effect.andThen(last(1), Effect.fail("later"))
    assert.deepStrictEqual(yield* Effect.exit(inOneTransaction([lastWritten, fine])), Exit.fail("later"))
    assert.deepStrictEqual(yield* Effect.exit(inOneTransaction([Effect.die("broken"), fine])), Exit.die("broken"))
    assert.strictEqual(statements.filter((statement) => statement.startsWith("last")).length, 1)
  }))
