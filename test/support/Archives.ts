import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { TransferHandler } from "../../src/actors/transfers/TransferHandler.ts"
import { emptyPlan } from "../../src/services/archives/ArchiveImport.ts"
import { ArchiveParts } from "../../src/services/archives/ArchiveParts.ts"
import { ArchiveReader } from "../../src/services/archives/ArchiveReader.ts"
import { ArchiveRequests } from "../../src/services/archives/ArchiveRequests.ts"
import { ArchiveWriter } from "../../src/services/archives/ArchiveWriter.ts"
import { ImportedPosts } from "../../src/services/archives/ImportedPosts.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { FileOwners } from "../../src/services/media/FileOwners.ts"
import { StoredFiles } from "../../src/services/media/StoredFiles.ts"
import type { Transfer } from "../../src/services/transfers/Transfer.ts"
import { TransferQueue } from "../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../src/services/transfers/Transfers.ts"
import { server } from "./WebServer.ts"

/** The server with the services that archives need. */
export const archiveServer = ArchiveWriter.layer.pipe(
  Layer.provideMerge(ArchiveParts.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      ArchiveReader.layer,
      ArchiveRequests.layer,
      ImportedPosts.layer,
      TransferQueue.layer,
      Transfers.layer
    )
  ),
  Layer.provideMerge(Layer.mergeAll(FileOwners.layer, StoredFiles.layer)),
  Layer.provideMerge(server())
)

/**
 * Runs the steps of an account's due transfer as a node does. `dies` is asked before and after each step: a node that
 * dies there loses what it did not commit, and the lease ends at once.
 */
export const runTransfer = Effect.fnUntraced(function*(
  handler: TransferHandler,
  dies: (step: number, when: "before" | "after") => boolean = () => false
) {
  const queue = yield* TransferQueue
  const sql = yield* SqlClient.SqlClient
  const claim = Effect.map(queue.claim(1), ([transfer]) => transfer)
  const abandon = ({ id }: Transfer) => sql`UPDATE transfers SET due_at = now() - interval '1 day' WHERE id = ${id}`
  let transfer = yield* claim
  for (let step = 0; transfer !== undefined; step++) {
    if (dies(step, "before")) {
      // The step's rows are rolled back; files that it stored have no owner.
      const lost: Transfer = { ...transfer, dueAt: new Date(0) }
      yield* Effect.exit(handler.step(lost))
      yield* abandon(transfer)
      transfer = yield* claim
      continue
    }
    const { claimed, end } = yield* handler.step(transfer)
    if (dies(step, "after")) {
      yield* abandon(transfer)
      transfer = yield* claim
      continue
    }
    if (end._tag !== "More") {
      yield* queue.release(claimed, end)
      return end
    }
    transfer = claimed
  }
  return yield* Effect.die(new Error("No transfer was due"))
})

/** Stores bytes as the upload of an import, and begins it. */
export const beginImport = Effect.fnUntraced(function*(owner: AccountId, archive: Uint8Array) {
  const files = yield* StoredFiles
  const owners = yield* FileOwners
  const transfers = yield* Transfers
  const { bytes, name } = yield* files.receive("upload", Stream.make(archive), archive.length)
  return yield* transfers.begin(
    owner,
    {
      kind: "archive_in",
      options: { fileName: name, bytes, owner: null, plan: emptyPlan, confirmed: false },
      total: 0,
      failed: 0,
      unconfirmed: false
    },
    (transferId) => Effect.asVoid(owners.hold([name], { transferId }))
  )
})
