import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { Retention } from "../../../src/services/intents/Retention.ts"
import type { TransferKind } from "../../../src/services/transfers/Transfer.ts"
import { TransferQueue } from "../../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { abandon } from "../../support/Archives.ts"
import { person } from "../../support/People.ts"
import { retention } from "../../support/Retention.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const live = Layer.mergeAll(retention, TransferQueue.layer, Transfers.layer).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

const begin = (owner: AccountId, kind: TransferKind, unconfirmed = false) =>
  Transfers.use((transfers) => transfers.begin(owner, { kind, options: {}, total: 0, failed: 0, unconfirmed }))

const claimedIds = TransferQueue.use((queue) => Effect.map(queue.claim(10), (all) => all.map(({ id }) => id)))

layer(live, { excludeTestServices: true })("the queue of transfers", (it) => {
  it.effect("F384: an older transfer that is confirmed late waits for the one of its account that runs", () =>
    Effect.gen(function*() {
      const [transfers, queue, ada] = [yield* Transfers, yield* TransferQueue, yield* person("ada")]
      const older = yield* begin(ada, "follows", true)
      const newer = yield* begin(ada, "blocks")
      const newest = yield* begin(ada, "mutes")
      const [running] = yield* queue.claim(10)
      assert.strictEqual(running?.id, newer.id)
      yield* transfers.confirm(ada, older.id)
      assert.deepStrictEqual(yield* claimedIds, [])
      // The node died, or its claim ended: the one that runs goes on.
      yield* abandon(newer.id)
      const [again] = yield* queue.claim(10)
      assert.strictEqual(again?.id, newer.id)
      yield* queue.release(again!, { _tag: "Finished" })
      const [next] = yield* queue.claim(10)
      assert.strictEqual(next?.id, older.id)
      yield* queue.release(next!, { _tag: "Finished" })
      assert.deepStrictEqual(yield* claimedIds, [newest.id])
    }))

  it.effect("transfers of other kinds than the claimed ones keep their place in the order of their account", () =>
    Effect.gen(function*() {
      const [queue, bob] = [yield* TransferQueue, yield* person("bob")]
      const posts = yield* begin(bob, "archive_in")
      const list = yield* begin(bob, "follows")
      assert.deepStrictEqual(yield* queue.claim(10, ["follows"]), [])
      const [first] = yield* queue.claim(10, ["archive_in"])
      assert.strictEqual(first?.id, posts.id)
      assert.deepStrictEqual(yield* queue.claim(10, ["follows"]), [])
      yield* queue.release(first!, { _tag: "Finished" })
      assert.deepStrictEqual((yield* queue.claim(10, ["follows"])).map(({ id }) => id), [list.id])
    }))

  it.effect("F400: a transfer that is confirmed while a newer one is being claimed is not claimed as well", () =>
    Effect.gen(function*() {
      const [transfers, queue, dora] = [yield* Transfers, yield* TransferQueue, yield* person("dora")]
      const sql = yield* SqlClient.SqlClient
      const other = yield* begin(yield* person("emil"), "archive_in")
      const older = yield* begin(dora, "archive_in", true)
      const newer = yield* begin(dora, "follows")
      const [claimed, opened] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      // The claim of another lane or node, before its commit.
      const claiming = yield* Effect.forkChild(sql.withTransaction(
        queue.claim(10, ["follows"]).pipe(
          Effect.tap(() => Deferred.succeed(claimed, undefined)),
          Effect.tap(() => Deferred.await(opened))
        )
      ))
      yield* Deferred.await(claimed)
      yield* transfers.confirm(dora, older.id)
      const others = yield* queue.claim(10, ["archive_in"])
      yield* Deferred.succeed(opened, undefined)
      assert.deepStrictEqual((yield* Fiber.join(claiming)).map(({ id }) => id), [newer.id])
      assert.deepStrictEqual(others.map(({ id }) => id), [other.id])
      assert.deepStrictEqual(yield* queue.claim(10, ["archive_in"]), [])
      yield* queue.release(yield* transfers.find(dora, newer.id), { _tag: "Finished" })
      const [next] = yield* queue.claim(10, ["archive_in"])
      assert.strictEqual(next?.id, older.id)
    }))

  it.effect("F385: a transfer that runs for longer than ended ones are kept is not deleted while it runs", () =>
    Effect.gen(function*() {
      const [queue, sql, transfers] = [yield* TransferQueue, yield* SqlClient.SqlClient, yield* Transfers]
      const cleo = yield* person("cleo")
      const { id } = yield* begin(cleo, "archive_in")
      const [claimed] = yield* queue.claim(10)
      yield* sql`INSERT INTO archive_items (transfer_id, published_at, place, activity) VALUES (${id}, now(), 1, '{}')`
      yield* sql`UPDATE transfers SET created_at = created_at - interval '14 days', expires_at = now() WHERE id = ${id}`
      yield* queue.commit(claimed!, { processed: 1 })
      yield* Retention.use(({ sweep }) => sweep)
      assert.deepInclude(yield* transfers.find(cleo, id), { state: "in_progress", processed: 1 })
      assert.lengthOf(yield* sql`SELECT FROM archive_items WHERE transfer_id = ${id}`, 1)
    }))
})
