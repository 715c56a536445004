import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { listSecondsMax } from "../../../src/services/lists/ListDocuments.ts"
import { claimMillis, ListSync } from "../../../src/services/lists/ListSync.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Responses of hosts by URL; other URLs are not found. */
const responses = new Map<string, unknown>()
const asked: Array<string> = []
let onAsk: Deferred.Deferred<void> | undefined
const document = (url: string) =>
  Effect.suspend(() => {
    asked.push(url)
    if (onAsk !== undefined) Deferred.doneUnsafe(onAsk, Effect.void)
    return responses.has(url) ? Effect.succeed(responses.get(url)) : Effect.never
  })
const outbound = Layer.succeed(
  Outbound,
  Outbound.of({
    json: ({ url }) => Effect.map(document(url), (value) => ({ url, value })),
    text: ({ url }) =>
      Effect.map(document(url), (value) => ({ url, value: String(value), contentType: "text/csv", link: "" })),
    stream: () => Effect.never,
    post: () => Effect.never
  })
)

const Live = ListSync.layer.pipe(
  Layer.provide(outbound),
  Layer.provide(Layer.succeed(ServerConfig, configuration)),
  Layer.provide(Broadcast.layerMemory),
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, NodeCrypto.layer, NodeServices.layer))
)

const url = "https://lists.example/one"
/** Inserts a list that is due, with a block that it created. */
const followed = Effect.fnUntraced(function*(type: "csv" | "fires") {
  const sql = yield* SqlClient.SqlClient
  responses.clear()
  onAsk = yield* Deferred.make<void>()
  for (const table of ["domain_blocks", "moderation_lists"]) yield* sql`DELETE FROM ${sql(table)}`
  const at = new Date(0)
  yield* sql`INSERT INTO moderation_lists (id, name, url, type, action, priority, apply_automatically,
      retract_automatically, preserve_relationships, override_unattributed, created_at, due_at)
    VALUES (1, 'One', ${url}, ${type}, 'reject', 0, true, true, true, false, ${at}, ${at})`
  const { step } = yield* ListSync
  if (type === "csv") responses.set(url, "bad.example")
  else {
    responses.set(url, { endpoints: { snapshot: `${url}/all` } })
    responses.set(`${url}/all`, {
      orderedItems: [{
        type: "Recommendation",
        entityKind: "domain",
        entityKey: "bad.example",
        recommendedPolicy: "drop"
      }]
    })
  }
  assert.isTrue(yield* step)
  assert.deepStrictEqual(yield* blocked, ["bad.example"])
  return { sql, step }
})
const blocked = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(sql<{ domain: string }>`SELECT domain FROM domain_blocks`, (rows) => rows.map(({ domain }) => domain))
)
const list = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ error: string | null; dueAt: Date }>`SELECT error, due_at FROM moderation_lists`,
    ([row]) => ({ error: row?.error, due: row?.dueAt.getTime() ?? 0 })
  ))

layer(Live)("row 89: lists of hosts with arbitrary responses", (it) => {
  it.effect("F111: a sync that ends with its process is soon repeated", () =>
    Effect.gen(function*() {
      const { sql, step } = yield* followed("csv")
      responses.clear()
      yield* sql`UPDATE moderation_lists SET due_at = ${new Date(0)}`
      onAsk = yield* Deferred.make<void>()
      const killed = yield* Effect.forkChild(step)
      yield* Deferred.await(onAsk)
      yield* Fiber.interrupt(killed)
      assert.isFalse(yield* step, "it is claimed")
      yield* TestClock.adjust(claimMillis)
      responses.set(url, "worse.example")
      assert.isTrue(yield* step)
      assert.deepStrictEqual(yield* blocked, ["worse.example"])
    }))

  it.effect("F111: pages that drip endlessly are given up, and the list's previous content is kept", () =>
    Effect.gen(function*() {
      const { sql, step } = yield* followed("fires")
      responses.delete(`${url}/all`)
      yield* sql`UPDATE moderation_lists SET due_at = ${new Date(0)}`
      onAsk = yield* Deferred.make<void>()
      const waiting = yield* Effect.forkChild(step)
      yield* Deferred.await(onAsk)
      yield* TestClock.adjust(`${listSecondsMax} seconds`)
      assert.isTrue(yield* Fiber.join(waiting))
      assert.strictEqual((yield* list).error, "it takes too long")
      assert.deepStrictEqual(yield* blocked, ["bad.example"])
    }))

  const nothings = [
    ["csv", url, ""],
    ["csv", url, " \n"],
    ["fires", `${url}/all`, {}],
    ["fires", `${url}/all`, { error: "maintenance" }]
  ] as const
  it.effect.each(nothings)(
    "F111: %s: a response that is not a list lifts no block",
    ([type, address, response]) =>
      Effect.gen(function*() {
        const { sql, step } = yield* followed(type)
        responses.set(address, response)
        yield* sql`UPDATE moderation_lists SET due_at = ${new Date(0)}`
        assert.isTrue(yield* step)
        assert.isString((yield* list).error)
        assert.deepStrictEqual(yield* blocked, ["bad.example"])
      })
  )

  it.effect("F111: an explicitly empty list lifts its blocks", () =>
    Effect.gen(function*() {
      const { sql, step } = yield* followed("fires")
      responses.set(`${url}/all`, { type: "OrderedCollection", totalItems: 0 })
      yield* sql`UPDATE moderation_lists SET due_at = ${new Date(0)}`
      assert.isTrue(yield* step)
      assert.deepStrictEqual(yield* blocked, [])
    }))
})
