import { Clock, Effect, Layer } from "effect"
import { CurrentWork } from "../../services/runtime/CurrentWork.ts"
import { ArchiveRequests } from "../../services/transfers/archives/ArchiveRequests.ts"
import { LiveImports as LiveConsents } from "../../services/transfers/live/LiveImports.ts"
import { bringsPosts, type Transfer, type TransferKind, transferKinds } from "../../services/transfers/Transfer.ts"
import { isLeaseLost, TransferQueue } from "../../services/transfers/TransferQueue.ts"
import { repeatEvery, runClaimed } from "../agenda/ClaimRounds.ts"
import * as ArchiveExports from "./ArchiveExports.ts"
import * as ArchiveImports from "./ArchiveImports.ts"
import * as ArchiveUndos from "./ArchiveUndos.ts"
import * as ListImports from "./ListImports.ts"
import * as LiveImports from "./LiveImports.ts"
import type { TransferHandler } from "./TransferHandler.ts"

/**
 * Transfers that a node runs at once. A step that takes longer than `slow.millis`, because it reads an archive or waits
 * for other servers, counts against the higher limit instead. Imports of posts may take hours, so they have places of
 * their own.
 */
const groups = [
  {
    workName: "imports of posts",
    kinds: transferKinds.filter(bringsPosts),
    atOnceMax: 2,
    slow: { millis: 5_000, atOnceMax: 6 }
  },
  {
    workName: "transfers",
    kinds: transferKinds.filter((kind) => !bringsPosts(kind)),
    atOnceMax: 4,
    slow: { millis: 5_000, atOnceMax: 16 }
  }
]
/** Steps of a claim, and time after which it begins no further one; then transfers of other accounts have their turn. */
const stepsPerClaimMax = 20
const claimMillisMax = 5_000
/** Timeout of a step, in seconds; shorter than the lease. */
const stepSecondsMax = 100

const make = Effect.gen(function*() {
  const archives = yield* ArchiveRequests
  const queue = yield* TransferQueue
  const live = yield* LiveConsents
  const list = yield* ListImports.make

  /** Handler of each kind of transfer. */
  const handlers: Record<TransferKind, TransferHandler> = {
    follows: list,
    lists: list,
    blocks: list,
    mutes: list,
    ["domain_blocks"]: list,
    bookmarks: list,
    favourites: list,
    filters: list,
    ["archive_out"]: yield* ArchiveExports.make,
    ["archive_in"]: yield* ArchiveImports.make,
    ["live_in"]: yield* LiveImports.make,
    ["archive_undo"]: yield* ArchiveUndos.make
  }

  const run = Effect.fnUntraced(function*(first: Transfer) {
    let transfer = first
    const began = yield* Clock.currentTimeMillis
    for (let step = 1;; step++) {
      const { secondsMax = stepSecondsMax, step: next } = handlers[transfer.kind]
      const { claimed, end } = yield* next(transfer).pipe(
        Effect.timeout(`${secondsMax} seconds`),
        Effect.withSpan("TransferRunner.step", { attributes: { kind: transfer.kind } })
      )
      const isLate = (yield* Clock.currentTimeMillis) - began > claimMillisMax
      if (end._tag !== "More" || step >= stepsPerClaimMax || isLate) return yield* queue.release(claimed, end)
      transfer = claimed
      yield* Effect.yieldNow
    }
  })

  yield* repeatEvery("1 minute", "weekly archives", archives.beginDue)
  yield* repeatEvery("1 minute", "imports that nobody confirmed", live.endAbandoned)
  for (const { kinds, ...group } of groups) {
    yield* runClaimed({
      ...group,
      claim: (max) => queue.claim(max, kinds),
      run: (transfer) =>
        run(transfer).pipe(
          Effect.catchIf(isLeaseLost, () => Effect.void),
          Effect.provideService(CurrentWork, `a transfer of kind ${transfer.kind}`)
        )
    })
  }
})

/** Runs imports and exports of accounts, on every node: each transfer on one node at a time. */
export const layer = Layer.effectDiscard(make)
