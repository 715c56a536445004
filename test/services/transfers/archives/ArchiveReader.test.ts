import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as ArchiveImports from "../../../../src/actors/transfers/ArchiveImports.ts"
import { decodeArchiveImport } from "../../../../src/services/transfers/archives/ArchiveImport.ts"
import { TransferQueue } from "../../../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../../../src/services/transfers/Transfers.ts"
import {
  abandon,
  archiveServer,
  beginImport,
  claimAlias,
  dyingQueue,
  mastodonArchive,
  noteOf,
  picturedPosts,
  runTransfer,
  slowed
} from "../../../support/Archives.ts"
import { user } from "../../../support/SignedIn.ts"

layer(archiveServer, { excludeTestServices: true })("archives whose reading is interrupted", (it) => {
  it.effect("are read to the same plan wherever the node that reads them dies", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [queue, ivy] = [yield* TransferQueue, yield* user("ivy")]
      const actor = "https://old.example/users/ivy"
      yield* claimAlias(ivy, actor)
      const { files, items } = yield* picturedPosts(actor, 450, 5)
      for (const outboxFirst of [false, true]) {
        const transfer = yield* beginImport(ivy, mastodonArchive(actor, items, files, outboxFirst))
        for (const commits of outboxFirst ? [0, 1, 4, 5, 5] : [0, 1, 2, 3, 3]) {
          const [claimed] = yield* queue.claim(1)
          const dying = Effect.provideService(ArchiveImports.make, TransferQueue, dyingQueue(queue, commits))
          assert.isTrue(Exit.isFailure(yield* Effect.exit((yield* dying).step(claimed!))))
          yield* abandon(transfer.id)
        }
        yield* runTransfer(yield* ArchiveImports.make)
        const { options, state, total } = yield* Transfers.use((transfers) => transfers.find(ivy, transfer.id))
        assert.deepStrictEqual([state, total], ["unconfirmed", 450])
        const { plan } = yield* decodeArchiveImport(options)
        assert.deepInclude(plan, { posts: 450, files: 5, missingFiles: 0, unreadable: 0 })
        yield* sql`UPDATE transfers SET state = 'cancelled' WHERE id = ${transfer.id}`
      }
    }))

  it.effect("F253: lose no file if the node dies while it stores one of many", () =>
    Effect.gen(function*() {
      const [queue, transfers, jan] = [yield* TransferQueue, yield* Transfers, yield* user("jan")]
      const actor = "https://old.example/users/jan"
      yield* claimAlias(jan, actor)
      const { files, items } = yield* picturedPosts(actor, 60, 60)
      const { id } = yield* beginImport(jan, mastodonArchive(actor, items, files))
      const [claimed] = yield* queue.claim(1)
      const dying = Effect.provideService(ArchiveImports.make, TransferQueue, dyingQueue(queue, 50))
      assert.isTrue(Exit.isFailure(yield* Effect.exit((yield* dying).step(claimed!))))
      yield* abandon(id)
      yield* runTransfer(yield* ArchiveImports.make)
      const { plan } = yield* decodeArchiveImport((yield* transfers.find(jan, id)).options)
      assert.deepInclude(plan, { posts: 60, files: 60, missingFiles: 0 })
      yield* transfers.cancel(jan, id)
    }))

  it.effect("F253: keep their lease while an entry without posts or files is read", () =>
    Effect.gen(function*() {
      const [queue, transfers, mara] = [yield* TransferQueue, yield* Transfers, yield* user("mara")]
      const actor = "https://old.example/users/mara"
      yield* claimAlias(mara, actor)
      // Bytes of no known type that cannot be compressed.
      const noise = new Uint8Array(randomBytes(4 * 1_048_576)).fill(0, 0, 64)
      const { id } = yield* beginImport(mara, mastodonArchive(actor, [noteOf(actor, 1)], { "noise.bin": noise }))
      const [claimed] = yield* queue.claim(1)
      let [renewals, last, gap] = [0, 0, 0]
      const counting = TransferQueue.of({
        ...queue,
        commit: (claimed, progress, write) =>
          Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            if (last > 0) gap = Math.max(gap, now - last)
            last = now
            if (progress.repeated === true) renewals++
            return yield* queue.commit(claimed, progress, write)
          })
      })
      const handler = yield* Effect.provideService(ArchiveImports.make, TransferQueue, counting)
      yield* slowed(handler.step(claimed!), 5_000)
      assert.isAtLeast(renewals, 3)
      assert.isBelow(gap, 120_000)
      yield* transfers.cancel(mara, id)
    }))

  it.effect("F253: end as interrupted if each node that reads them dies at the same place", () =>
    Effect.gen(function*() {
      const [queue, transfers, nils] = [yield* TransferQueue, yield* Transfers, yield* user("nils")]
      const actor = "https://old.example/users/nils"
      yield* claimAlias(nils, actor)
      const items = Array.from({ length: 450 }, (_, n) => noteOf(actor, n))
      const { id } = yield* beginImport(nils, new TextEncoder().encode(JSON.stringify({ orderedItems: items })))
      for (let deaths = 0; deaths < 10; deaths++) {
        const [claimed] = yield* queue.claim(1)
        const dying = Effect.provideService(ArchiveImports.make, TransferQueue, dyingQueue(queue, 0, "after"))
        assert.isTrue(Exit.isFailure(yield* Effect.exit((yield* dying).step(claimed!))))
        yield* abandon(id)
      }
      assert.deepStrictEqual(yield* queue.claim(1), [])
      assert.deepInclude(yield* transfers.find(nils, id), { state: "failed", problem: "interrupted" })
    }))
})
