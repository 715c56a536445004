import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { isValueRefused } from "../../services/database/RefusedValues.ts"
import { transaction } from "../../services/database/Transactions.ts"
import type { ArchiveOwner } from "../../services/transfers/archives/ArchivedItem.ts"
import type { ArchiveImport, ImportCursor } from "../../services/transfers/archives/ArchiveImport.ts"
import { ArchiveReader, type ItemPlace, type StagedItem } from "../../services/transfers/archives/ArchiveReader.ts"
import { ImportedPosts } from "../../services/transfers/archives/ImportedPosts.ts"
import type { Transfer } from "../../services/transfers/Transfer.ts"
import { type StepEnd, TransferQueue } from "../../services/transfers/TransferQueue.ts"

/** Items that a step examines for the plan, and that it imports in one transaction. */
const plannedPerStep = 100
const importedPerStep = 20

type Plan = ArchiveImport["plan"]

const more: StepEnd = { _tag: "More" }
const unconfirmed: StepEnd = { _tag: "Unconfirmed" }
const afterOf = ({ after }: Pick<ImportCursor, "after">): ItemPlace | undefined =>
  after === null ? undefined : { publishedAt: new Date(after.millis), place: after.place }
const placeOf = (item: StagedItem | undefined): ImportCursor["after"] =>
  item === undefined ? null : { millis: item.publishedAt.getTime(), place: item.place }

/** Steps of imports of posts that are staged in `archive_items`: the plan for the owner, and the import. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const imported = yield* ImportedPosts
  const queue = yield* TransferQueue
  const reader = yield* ArchiveReader

  const planned = Effect.fnUntraced(function*(
    { accountId, id }: Transfer,
    plan: Plan,
    { item, publishedAt }: StagedItem,
    fetched: boolean
  ) {
    if (item.kind === "skipped") return { ...plan, [item.reason]: plan[item.reason] + 1 }
    if (yield* imported.isKnown(accountId, item.kind === "post" ? item.note.uri : item.uri)) {
      return { ...plan, known: plan.known + 1 }
    }
    if (fetched && item.kind === "post" && (yield* imported.isEmpty(id, item))) {
      return { ...plan, empty: (plan.empty ?? 0) + 1, missingFiles: plan.missingFiles + item.files.length }
    }
    const millis = publishedAt.getTime()
    const counted = {
      ...plan,
      firstMillis: Math.min(plan.firstMillis ?? millis, millis),
      lastMillis: Math.max(plan.lastMillis ?? millis, millis)
    }
    if (item.kind === "boost") return { ...counted, boosts: plan.boosts + 1 }
    const present = fetched ? yield* reader.present(id, item.files) : undefined
    const found = item.files.filter((path) => present?.has(path) ?? true).length
    return {
      ...counted,
      posts: plan.posts + 1,
      files: plan.files + found,
      missingFiles: plan.missingFiles + item.files.length - found
    }
  })

  /**
   * Counts the next items of a plan. `fetched` is false if their files are fetched later: all of them count then.
   */
  const plan = Effect.fnUntraced(function*(
    claimed: Transfer,
    options: { readonly owner: ArchiveOwner; readonly plan: Plan },
    cursor: Pick<ImportCursor, "after">,
    now: number,
    fetched = true
  ) {
    const items = yield* reader.items(claimed.id, options.owner, afterOf(cursor), plannedPerStep, now)
    let counted = options.plan
    for (const item of items) counted = yield* planned(claimed, counted, item, fetched)
    const skipped = items.filter(({ item }) => item.kind === "skipped")
    const importable = items.length - skipped.length
    const last = items.length < plannedPerStep
    const next = yield* queue.commit(
      claimed,
      {
        total: importable,
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

  /** Returns the next items of a confirmed import. */
  const next = (claimed: Transfer, owner: ArchiveOwner, now: number) =>
    reader.items(claimed.id, owner, undefined, importedPerStep, now)

  /** Imports items in one transaction. The import ends with fewer items than a step has. */
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

  return { plan, next, imports }
})
