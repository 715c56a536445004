import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Commands, type Owner } from "../../../src/services/intents/Commands.ts"
import { defaultColumns } from "../../../src/services/statuses/StatusRows.ts"
import { StatusWriter } from "../../../src/services/statuses/StatusWriter.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const written = Layer.merge(Commands.layer, StatusWriter.layer).pipe(
  Layer.provide(Broadcast.layerMemory),
  Layer.provideMerge(TestDatabase.layer)
)

/** Returns everything that a status consists of, as numbers of rows and sums of counters. */
const figures = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<object>`SELECT (SELECT count(*) FROM statuses) AS statuses, (SELECT count(*) FROM status_stats) AS stats,
      (SELECT count(*) FROM mentions) AS mentions, (SELECT count(*) FROM fanouts) AS fanouts,
      (SELECT count(*) FROM commands) AS commands, (SELECT sum(statuses_count) FROM account_stats) AS counted,
      (SELECT count(*) FROM tags) AS tags, (SELECT count(*) FROM statuses_tags) AS tagged,
      (SELECT coalesce(sum(uses), 0) FROM tag_days) AS uses`,
    ([row]) => row
  ))

const writeStatus = Effect.fnUntraced(function*(owner: Owner, command: string, mentioned: AccountId, tag: string) {
  const commands = yield* Commands
  const writer = yield* StatusWriter
  const createdAt = new Date(yield* Clock.currentTimeMillis)
  const row = {
    ...defaultColumns,
    accountId: owner.accountId,
    text: "hello",
    html: "<p>hello</p>",
    visibility: "public",
    createdAt
  } as const
  const draft = { mentionIds: [mentioned], tags: [{ name: tag, displayName: tag }] }
  return yield* commands.runAsStatement(
    owner,
    command,
    { kind: "status", family: "statuses" },
    (recording) => writer.insertAlone({ row, draft }, recording)
  )
})

layer(written, { excludeTestServices: true })("a status in one statement", (it) => {
  it.effect("I2: is written once for a command, with its response, also for repeated and concurrent commands", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { runOnce, takeOver } = yield* Commands
      const [author, other] = [yield* person("once1"), yield* person("other1")]
      const owner = yield* takeOver(author)
      const one = yield* writeStatus(owner, "a", other, "first")
      assert.isDefined(one)
      const before = yield* figures
      assert.isUndefined(yield* writeStatus(owner, "a", other, "second"))
      assert.deepStrictEqual(yield* figures, before)
      const { response, repeated } = yield* runOnce(owner, "a", "statuses", Effect.die("done again"))
      assert.deepStrictEqual([response, repeated], [{ kind: "status", id: String(one?.intent.statusId) }, true])
      const atOnce = yield* Effect.all(
        Array.from({ length: 8 }, () => writeStatus(owner, "b", other, "third")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(atOnce.filter((row) => row !== undefined).length, 1)
      assert.deepStrictEqual(
        yield* sql`SELECT id, family, answer ->> 'id' = (SELECT max(s.id)::text FROM statuses s) AS newest FROM commands
          WHERE account_id = ${author} ORDER BY id DESC LIMIT 1`,
        [{ id: "b", family: "statuses", newest: true }]
      )
    }))

  it.effect("I13: is not written for a replaced owner, nor waits for one that is taking over", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { takeOver } = yield* Commands
      const [author, other] = [yield* person("owner2"), yield* person("other2")]
      const earlier = yield* takeOver(author)
      const owner = yield* takeOver(author)
      const before = yield* figures
      assert.isUndefined(yield* writeStatus(earlier, "a", other, "fourth"))
      assert.deepStrictEqual(yield* figures, before)
      const [takes, ends] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const taking = yield* Effect.forkChild(sql.withTransaction(
        sql`UPDATE actors SET epoch = epoch + 1 WHERE account_id = ${author}`.pipe(
          Effect.andThen(Deferred.succeed(takes, undefined)),
          Effect.andThen(Deferred.await(ends))
        )
      ))
      yield* Deferred.await(takes)
      assert.isUndefined(yield* writeStatus(owner, "a", other, "fourth"))
      assert.deepStrictEqual(yield* figures, before)
      yield* Deferred.succeed(ends, undefined)
      yield* Fiber.join(taking)
    }))
})
