import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { isValueRefused } from "../../services/database/RefusedValues.ts"
import { transaction } from "../../services/database/Transactions.ts"
import { FileOwners } from "../../services/media/FileOwners.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import {
  type ArchiveImport,
  decodeArchiveImport,
  decodeImportCursor,
  firstImportCursor,
  type ImportCursor
} from "../../services/transfers/archives/ArchiveImport.ts"
import { ArchiveReader, type ItemPlace, type StagedItem } from "../../services/transfers/archives/ArchiveReader.ts"
import type { ArchiveRefused } from "../../services/transfers/archives/ArchiveRefusals.ts"
import { ImportedPosts } from "../../services/transfers/archives/ImportedPosts.ts"
import type { Transfer } from "../../services/transfers/Transfer.ts"
import { type StepEnd, TransferQueue } from "../../services/transfers/TransferQueue.ts"
import type { TransferHandler } from "./TransferHandler.ts"

/** Items that a step examines for the plan, and that it imports in one transaction. */
const plannedPerStep = 100
const importedPerStep = 20
/** Timeout of reading an archive, in seconds; the lease is renewed with each file and batch of posts. */
const readSecondsMax = 6 * 3_600

const more: StepEnd = { _tag: "More" }
const unconfirmed: StepEnd = { _tag: "Unconfirmed" }
const afterOf = ({ after }: ImportCursor): ItemPlace | undefined =>
  after === null ? undefined : { publishedAt: new Date(after.millis), place: after.place }
const placeOf = (item: StagedItem | undefined): ImportCursor["after"] =>
  item === undefined ? null : { millis: item.publishedAt.getTime(), place: item.place }

/**
 * Imports of archives: `read` stores the posts and files of the upload, `plan` counts them and waits for the owner, and
 * a confirmed import writes a few posts in each transaction, in which their items are deleted. So each post is imported once,
 * wherever a node dies.
 */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const fileOwners = yield* FileOwners
  const files = yield* StoredFiles
  const imported = yield* ImportedPosts
  const queue = yield* TransferQueue
  const reader = yield* ArchiveReader

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
      const { actor, unreadable } = yield* reader.read(source, commit)
      const owner = yield* reader.owner(first.accountId, first.id, actor)
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

  const planned = Effect.fnUntraced(function*(
    { accountId, id }: Transfer,
    plan: ArchiveImport["plan"],
    { item, publishedAt }: StagedItem
  ) {
    if (item.kind === "skipped") return { ...plan, [item.reason]: plan[item.reason] + 1 }
    if (yield* imported.isKnown(accountId, item.kind === "post" ? item.note.uri : item.uri)) {
      return { ...plan, known: plan.known + 1 }
    }
    const millis = publishedAt.getTime()
    const counted = {
      ...plan,
      firstMillis: Math.min(plan.firstMillis ?? millis, millis),
      lastMillis: Math.max(plan.lastMillis ?? millis, millis)
    }
    if (item.kind === "boost") return { ...counted, boosts: plan.boosts + 1 }
    const present = yield* reader.present(id, item.files)
    const found = item.files.filter((path) => present.has(path)).length
    return {
      ...counted,
      posts: plan.posts + 1,
      files: plan.files + found,
      missingFiles: plan.missingFiles + item.files.length - found
    }
  })

  const plan = Effect.fnUntraced(function*(
    claimed: Transfer,
    options: ArchiveImport,
    cursor: ImportCursor,
    items: ReadonlyArray<StagedItem>
  ) {
    let counted = options.plan
    for (const item of items) counted = yield* planned(claimed, counted, item)
    const skipped = items.filter(({ item }) => item.kind === "skipped")
    const kept = items.length - skipped.length
    const last = items.length < plannedPerStep
    const next = yield* queue.commit(
      claimed,
      {
        total: kept,
        options: { ...options, plan: counted },
        cursor: last ? { ...cursor, phase: "planned", after: null } : { ...cursor, after: placeOf(items.at(-1)) }
      },
      Effect.forEach(skipped, (item) => reader.remove(claimed.id, item), { discard: true })
    )
    return { claimed: next, end: last ? unconfirmed : more }
  })

  /** Imports an item. One that Postgres refuses, also with another id, fails alone. */
  const add = (...given: Parameters<typeof imported.add>) => {
    // A savepoint, within the transaction of the step.
    const attempt = transaction(sql)(imported.add(...given))
    return attempt.pipe(
      Effect.catchIf(isValueRefused, () => attempt),
      Effect.catchIf(isValueRefused, () => Effect.succeed("failed" as const))
    )
  }

  const imports = Effect.fnUntraced(function*(claimed: Transfer, items: ReadonlyArray<StagedItem>) {
    const { accountId, id: transferId } = claimed
    const millis = yield* Clock.currentTimeMillis
    const write = Effect.gen(function*() {
      const counts = { added: 0, failed: 0 }
      // Held until the commit, so that a purge of the account begins after it.
      const open = yield* sql`SELECT FROM accounts WHERE id = ${accountId} AND suspended_at IS NULL FOR KEY SHARE`
      if (open.length === 0) return yield* Effect.die(new Error("The account was suspended"))
      for (const staged of items) {
        const { item } = staged
        const outcome = item.kind === "skipped"
          ? "failed"
          : yield* add({ accountId, transferId, millis }, item)
        if (outcome === "added") counts.added++
        else if (outcome === "failed") counts.failed++
        yield* reader.remove(transferId, staged)
      }
      yield* queue.count(transferId, counts)
      if (items.length < importedPerStep) yield* reader.clear(transferId)
    })
    const next = yield* queue.commit(claimed, { processed: items.length }, write)
    const end: StepEnd = items.length < importedPerStep ? { _tag: "Finished" } : more
    return { claimed: next, end }
  })

  const step = Effect.fnUntraced(function*(claimed: Transfer) {
    const options = yield* decodeArchiveImport(claimed.options)
    const cursor = claimed.cursor === null ? firstImportCursor : yield* decodeImportCursor(claimed.cursor)
    if (cursor.phase === "read" || options.owner === null) return yield* read(claimed, options, cursor)
    // The node may die between the last commit of the plan and its end.
    if (cursor.phase === "planned" && !options.confirmed) return { claimed, end: unconfirmed }
    const now = yield* Clock.currentTimeMillis
    const [count, after] = cursor.phase === "plan" ? [plannedPerStep, afterOf(cursor)] : [importedPerStep, undefined]
    const items = yield* reader.items(claimed.id, options.owner, after, count, now)
    return yield* cursor.phase === "plan" ? plan(claimed, options, cursor, items) : imports(claimed, items)
  })

  const handler: TransferHandler = { secondsMax: readSecondsMax, step }
  return handler
})
