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
  mastodonArchive,
  mover,
  noteOf,
  picturedPosts,
  runTransfer,
  runUntilDeath,
  slowed
} from "../../../support/Archives.ts"

layer(archiveServer, { excludeTestServices: true })("archives whose reading is interrupted", (it) => {
  it.effect("are read to the same plan wherever the node that reads them dies", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ivy, actor] = yield* mover("ivy")
      const { files, items } = yield* picturedPosts(actor, 450, 5)
      for (const outboxFirst of [false, true]) {
        const transfer = yield* beginImport(ivy, mastodonArchive(actor, items, files, outboxFirst))
        for (const commits of outboxFirst ? [0, 1, 4, 5, 5] : [0, 1, 2, 3, 3]) {
          yield* runUntilDeath(transfer.id, commits, "before")
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
      const transfers = yield* Transfers
      const [jan, actor] = yield* mover("jan")
      const { files, items } = yield* picturedPosts(actor, 60, 60)
      const { id } = yield* beginImport(jan, mastodonArchive(actor, items, files))
      yield* runUntilDeath(id, 50, "before")
      yield* runTransfer(yield* ArchiveImports.make)
      const { plan } = yield* decodeArchiveImport((yield* transfers.find(jan, id)).options)
      assert.deepInclude(plan, { posts: 60, files: 60, missingFiles: 0 })
      yield* transfers.cancel(jan, id)
    }))

  it.effect("F253: keep their lease while an entry without posts or files is read", () =>
    Effect.gen(function*() {
      const [queue, transfers] = [yield* TransferQueue, yield* Transfers]
      const [mara, actor] = yield* mover("mara")
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
      const [queue, transfers] = [yield* TransferQueue, yield* Transfers]
      const [nils, actor] = yield* mover("nils")
      const items = Array.from({ length: 450 }, (_, n) => noteOf(actor, n))
      const { id } = yield* beginImport(nils, new TextEncoder().encode(JSON.stringify({ orderedItems: items })))
      for (let deaths = 0; deaths < 10; deaths++) yield* runUntilDeath(id, 0, "after")
      assert.deepStrictEqual(yield* queue.claim(1), [])
      assert.deepInclude(yield* transfers.find(nils, id), { state: "failed", problem: "interrupted" })
    }))

  it.effect("F253: read a file again that was swept before its row was committed", () =>
    Effect.gen(function*() {
      const [queue, sql, transfers] = [yield* TransferQueue, yield* SqlClient.SqlClient, yield* Transfers]
      const [omar, actor] = yield* mover("omar")
      const { files, items } = yield* picturedPosts(actor, 3, 3)
      const { id } = yield* beginImport(omar, mastodonArchive(actor, items, files))
      const [claimed] = yield* queue.claim(1)
      const sweeping = TransferQueue.of({
        ...queue,
        commit: (claimed, progress, write) =>
          Effect.andThen(
            sql`UPDATE stored_files SET doomed_at = now() WHERE transfer_id IS NULL`,
            queue.commit(claimed, progress, write)
          )
      })
      const handler = yield* Effect.provideService(ArchiveImports.make, TransferQueue, sweeping)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(handler.step(claimed!))))
      yield* abandon(id)
      yield* runTransfer(yield* ArchiveImports.make)
      const { plan } = yield* decodeArchiveImport((yield* transfers.find(omar, id)).options)
      assert.deepInclude(plan, { posts: 3, files: 3, missingFiles: 0 })
      yield* transfers.cancel(omar, id)
    }))
})
