import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { NotificationWriter } from "../../../src/services/feeds/NotificationWriter.ts"
import { Favourites } from "../../../src/services/statuses/Favourites.ts"
import { StatusWriter } from "../../../src/services/statuses/StatusWriter.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const services = Layer.mergeAll(NotificationWriter.layer, Favourites.layer, StatusWriter.layer).pipe(
  Layer.provide(Broadcast.layerMemory),
  Layer.provideMerge(TestDatabase.layer)
)

/** Inserts the row of a public status. */
const status = Effect.fnUntraced(function*(accountId: bigint, reblogOf: bigint | null = null) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const [row] = yield* sql<
    { id: bigint }
  >`INSERT INTO statuses (id, account_id, text, html, visibility, local, reblog_of_id,
      conversation_id, created_at) VALUES (next_id(${now}), ${accountId}, '', '', 'public', true, ${reblogOf}, 1, ${new Date(
    now
  )}) RETURNING id`
  return row!.id
})

/** Notifies in a transaction, and starts `undone` before its end: `undone` finishes first, or waits. */
const meeting = Effect.fnUntraced(function*<A, B>(told: Effect.Effect<unknown, A>, undone: Effect.Effect<unknown, B>) {
  const sql = yield* SqlClient.SqlClient
  const written = yield* Deferred.make<void>()
  const other = yield* Deferred.await(written).pipe(
    Effect.andThen(sql.withTransaction(undone)),
    Effect.forkChild
  )
  yield* sql.withTransaction(Effect.gen(function*() {
    yield* told
    yield* Deferred.succeed(written, undefined)
    const waits = sql`SELECT FROM pg_locks WHERE NOT granted`
    while (other.pollUnsafe() === undefined && (yield* waits).length === 0) yield* Effect.yieldNow
  }))
  yield* Fiber.join(other)
})

layer(services, { excludeTestServices: true })("concurrent notification and retraction", (it) => {
  it.effect("F60: notifications of deleted objects are not kept", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [favourites, notificationWriter, statusWriter] = [
        yield* Favourites,
        yield* NotificationWriter,
        yield* StatusWriter
      ]
      const [author, reader] = [yield* person("author"), yield* person("reader")]
      const left = Effect.map(sql<{ type: string }>`SELECT type FROM notifications`, (rows) =>
        rows.map(({ type }) => type))
      const remove = (by: bigint, id: bigint) =>
        Effect.gen(function*() {
          yield* statusWriter.remove(id, by, yield* Clock.currentTimeMillis)
          yield* notificationWriter.retract([id])
        })
      const on = (type: "favourite" | "reblog", statusId: bigint) => ({
        type,
        to: author,
        statusId
      })

      const one = yield* status(author)
      yield* favourites.add(reader, one)
      yield* meeting(
        notificationWriter.notify(reader, on("favourite", one)),
        Effect.andThen(favourites.remove(reader, one), notificationWriter.retractOne("favourite", reader, one))
      )
      assert.deepStrictEqual(yield* left, [], "a favourite that is undone")

      const two = yield* status(author)
      yield* favourites.add(reader, two)
      yield* meeting(notificationWriter.notify(reader, on("favourite", two)), remove(author, two))
      assert.deepStrictEqual(yield* left, [], "a favourite of a post that is deleted")

      const three = yield* status(author)
      const reblog = yield* status(reader, three)
      yield* meeting(
        notificationWriter.notify(reader, on("reblog", three)),
        Effect.andThen(remove(reader, reblog), notificationWriter.retractOne("reblog", reader, three))
      )
      assert.deepStrictEqual(yield* left, [], "a reblog that is undone")

      const four = yield* status(author)
      yield* meeting(notificationWriter.notifyReaders("mention", author, four, [reader]), remove(author, four))
      assert.deepStrictEqual(yield* left, [], "a mention in a post that is deleted")

      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        VALUES (1, ${reader}, ${author}, ${new Date(yield* Clock.currentTimeMillis)})`
      yield* meeting(
        notificationWriter.notify(reader, { type: "follow", to: author }),
        Effect.andThen(sql`DELETE FROM follows WHERE id = 1`, notificationWriter.retractFollow(reader, author))
      )
      assert.deepStrictEqual(yield* left, [], "a follow that is undone")
    }))
})
