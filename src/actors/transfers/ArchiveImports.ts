import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { FileOwners } from "../../services/media/FileOwners.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import {
  type ArchiveImport,
  decodeArchiveImport,
  decodeImportCursor,
  firstImportCursor,
  type ImportCursor
} from "../../services/transfers/archives/ArchiveImport.ts"
import { ArchiveReader } from "../../services/transfers/archives/ArchiveReader.ts"
import type { ArchiveRefused } from "../../services/transfers/archives/ArchiveRefusals.ts"
import type { Transfer } from "../../services/transfers/Transfer.ts"
import { type StepEnd, TransferQueue } from "../../services/transfers/TransferQueue.ts"
import * as StagedPosts from "./StagedPosts.ts"
import type { TransferHandler } from "./TransferHandler.ts"

/** Timeout of reading an archive, in seconds; the lease is renewed with each file and batch of posts. */
const readSecondsMax = 6 * 3_600

const more: StepEnd = { _tag: "More" }
const unconfirmed: StepEnd = { _tag: "Unconfirmed" }

/**
 * Imports of archives: `read` stores the posts and files of the upload, `plan` counts them and waits for the owner, and
 * a confirmed import writes a few posts in each transaction, in which their items are deleted. So each post is imported once,
 * wherever a node dies.
 */
export const make = Effect.gen(function*() {
  const fileOwners = yield* FileOwners
  const files = yield* StoredFiles
  const queue = yield* TransferQueue
  const reader = yield* ArchiveReader
  const staged = yield* StagedPosts.make

  const read = Effect.fnUntraced(function*(first: Transfer, options: ArchiveImport, cursor: ImportCursor) {
    const { bytes, fileName } = options
    let claimed = first
    let reached = cursor.entriesRead
    const commit = (entriesRead: number, write: Effect.Effect<void, ArchiveRefused | SqlError>) =>
      Effect.gen(function*() {
        const progress = { cursor: { ...cursor, entriesRead }, repeated: entriesRead <= reached }
        claimed = yield* queue.commit(claimed, progress, write)
        reached = entriesRead
      })
    const source = { transferId: first.id, fileName, bytes, entriesRead: cursor.entriesRead }
    const refused = yield* Effect.gen(function*() {
      const { unreadable, ...archive } = yield* reader.read(source, commit)
      const owner = yield* reader.owner(first.accountId, first.id, archive)
      const plan = { ...options.plan, unreadable }
      claimed = yield* queue.commit(
        claimed,
        { cursor: { ...cursor, phase: "plan", after: null }, options: { ...options, owner, plan } },
        fileOwners.release([fileName])
      )
    }).pipe(Effect.as(undefined), Effect.catchTag("ArchiveRefused", ({ problem }) => Effect.succeed(problem)))
    if (refused !== undefined) {
      const end: StepEnd = { _tag: "Failed", problem: refused }
      return { claimed: yield* queue.commit(claimed, {}, reader.clear(first.id)), end }
    }
    yield* files.discard([fileName])
    return { claimed, end: more }
  })

  const step = Effect.fnUntraced(function*(claimed: Transfer) {
    const options = yield* decodeArchiveImport(claimed.options)
    const cursor = claimed.cursor === null ? firstImportCursor : yield* decodeImportCursor(claimed.cursor)
    if (cursor.phase === "read" || options.owner === null) return yield* read(claimed, options, cursor)
    // The node may die between the last commit of the plan and its end.
    if (cursor.phase === "planned" && !options.confirmed) return { claimed, end: unconfirmed }
    const now = yield* Clock.currentTimeMillis
    const { owner } = options
    return yield* cursor.phase === "plan"
      ? staged.plan(claimed, { ...options, owner }, cursor, now)
      : staged.imports(claimed, yield* staged.next(claimed, owner, now))
  })

  const handler: TransferHandler = { secondsMax: readSecondsMax, step }
  return handler
})
