import { Clock, Effect, Schema } from "effect"
import type { Unavailable } from "../../services/runtime/Errors.ts"
import {
  decodeOptions,
  type FailureReason,
  type ImportOptions,
  type Removal
} from "../../services/transfers/ImportLine.ts"
import { type ImportLine, ImportLines, type LineImport } from "../../services/transfers/ImportLines.ts"
import { ListKind, type Transfer } from "../../services/transfers/Transfer.ts"
import { type StepEnd, TransferQueue } from "../../services/transfers/TransferQueue.ts"
import * as LineActs from "./LineActs.ts"
import * as LineSubjects from "./LineSubjects.ts"
import type { TransferHandler } from "./TransferHandler.ts"

/** Lines that a step processes, and time after which it begins no further one: posts of a filter are fetched. */
const linesPerStepMax = 25
const actingMillisMax = 30_000
/** Delay of the next step if the account's actor does not respond, in milliseconds. */
const busyMillis = 10_000

/**
 * Place of an import. `check`: looks up what the lines name, so that no relation is removed that a line means by
 * another address; `remove`: removes relations after the cursor, of which `removals` are decided; `apply`: creates
 * what the lines name.
 */
const Cursor = Schema.Union([
  Schema.TaggedStruct("check", {}),
  Schema.TaggedStruct("remove", {
    after: Schema.BigInt,
    removals: Schema.Array(Schema.Struct({
      id: Schema.BigInt,
      subjectId: Schema.NullOr(Schema.BigInt),
      name: Schema.String,
      list: Schema.String
    }))
  }),
  Schema.TaggedStruct("apply", {})
])
type Cursor = typeof Cursor.Type
const CursorJson = Schema.toCodecJson(Cursor)
const decodeCursor = Schema.decodeUnknownEffect(CursorJson)
const encodeCursor = (cursor: Cursor) => Effect.orDie(Schema.encodeEffect(CursorJson)(cursor))
const isListKind = Schema.is(ListKind)

const isAdded = ({ present }: ImportLine) => present !== true
const more: StepEnd = { _tag: "More" }

/**
 * Imports of files of lines. A step commits first what it found out about its lines, then acts, then commits the
 * outcome. A node that dies in between repeats acts that are idempotent, and counts what was decided before.
 */
export const make = Effect.gen(function*() {
  const acts = yield* LineActs.make
  const lines = yield* ImportLines
  const lookUp = yield* LineSubjects.make
  const queue = yield* TransferQueue

  /** Looks up the lines' subjects and commits them; returns the claim and the lines that can be applied. */
  const checked = Effect.fnUntraced(function*(
    claimed: Transfer,
    transfer: LineImport,
    given: ReadonlyArray<ImportLine>
  ) {
    const unchecked = given.filter(({ present }) => present === undefined)
    if (unchecked.length === 0) return claimed
    const { busyHosts, failures, hosts, slowHosts, subjects } = yield* lookUp(transfer.kind, unchecked)
    const isNamed = transfer.kind === "domain_blocks" || transfer.kind === "filters"
    const found = isNamed ? unchecked.map(({ place }) => place) : [...subjects.keys()]
    const { id } = claimed
    let skippedPlaces: ReadonlyArray<number> = []
    const next = yield* queue.commit(
      claimed,
      { processed: failures.length, failed: failures.length },
      Effect.gen(function*() {
        yield* lines.fail(id, failures)
        yield* lines.check(transfer, found, subjects)
        skippedPlaces = hosts.length === 0 ? [] : yield* lines.skipHosts(id, hosts)
        if (slowHosts.length > 0) yield* lines.postpone(id, slowHosts, "slow")
        if (busyHosts.length > 0) yield* lines.postpone(id, busyHosts, "busy")
      })
    )
    if (skippedPlaces.length === 0) return next
    return yield* queue.commit(
      next,
      { processed: skippedPlaces.length, failed: skippedPlaces.length },
      lines.fail(id, skippedPlaces.map((place) => ({ place, reason: "unreachable" })))
    )
  })

  const check = Effect.fnUntraced(function*(claimed: Transfer, transfer: LineImport) {
    const given = yield* lines.due(claimed.id, linesPerStepMax, true)
    if (given.length > 0) return { claimed: yield* checked(claimed, transfer, given), end: more }
    const dueAt = yield* lines.nextDue(claimed.id, true)
    if (dueAt !== undefined) return { claimed, end: { _tag: "Later", dueAt } as const }
    const cursor = yield* encodeCursor({ _tag: "remove", after: 0n, removals: [] })
    return { claimed: yield* queue.commit(claimed, { cursor }), end: more }
  })

  const remove = Effect.fnUntraced(function*(
    claimed: Transfer,
    transfer: LineImport,
    { after, removals }: Extract<Cursor, { readonly _tag: "remove" }>
  ) {
    if (removals.length === 0) {
      const next: ReadonlyArray<Removal> = yield* lines.removals(transfer, after, linesPerStepMax)
      const cursor: Cursor = next.length === 0 ? { _tag: "apply" } : { _tag: "remove", after, removals: next }
      if (next.length === 0) yield* acts.removeEmptyLists(transfer)
      return { claimed: yield* queue.commit(claimed, { cursor: yield* encodeCursor(cursor) }), end: more }
    }
    for (const removal of removals) yield* acts.remove(transfer, removal)
    const last = removals.at(-1)?.id ?? after
    const cursor = yield* encodeCursor({ _tag: "remove", after: last, removals: [] })
    return { claimed: yield* queue.commit(claimed, { cursor, removed: removals.length }), end: more }
  })

  const apply = Effect.fnUntraced(function*(
    claimed: Transfer,
    transfer: LineImport,
    options: ImportOptions
  ) {
    const { id } = claimed
    const given = yield* lines.due(id, linesPerStepMax, false)
    if (given.length === 0) {
      const dueAt = yield* lines.nextDue(id, false)
      const end: StepEnd = dueAt === undefined ? { _tag: "Finished" } : { _tag: "Later", dueAt }
      return { claimed, end }
    }
    const next = yield* checked(claimed, transfer, given)
    const ready = (yield* lines.due(id, linesPerStepMax, false)).filter(({ present }) => present !== undefined)
    const done: Array<ImportLine> = []
    const failures: Array<{ readonly place: number; readonly reason: FailureReason }> = []
    let busy: Unavailable | undefined
    const began = yield* Clock.currentTimeMillis
    for (const line of ready) {
      const isLate = (yield* Clock.currentTimeMillis) - began > actingMillisMax
      if (isLate && done.length + failures.length > 0) break
      const outcome = yield* Effect.result(acts.apply(transfer, line, options))
      if (outcome._tag === "Failure") {
        busy = outcome.failure
        break
      }
      if (outcome.success === undefined) done.push(line)
      else failures.push({ place: line.place, reason: outcome.success })
    }
    const committed = yield* queue.commit(
      next,
      { processed: done.length + failures.length, added: done.filter(isAdded).length, failed: failures.length },
      Effect.andThen(lines.finish(id, done.map(({ place }) => place)), lines.fail(id, failures))
    )
    const now = yield* Clock.currentTimeMillis
    return { claimed: committed, end: busy === undefined ? more : { _tag: "Later", dueAt: now + busyMillis } as const }
  })

  const handler: TransferHandler = {
    step: Effect.fnUntraced(function*(claimed) {
      const { accountId, id, kind } = claimed
      const problem: StepEnd = { _tag: "Failed", problem: "unknown" }
      if (!isListKind(kind)) return { claimed, end: problem }
      const transfer = { accountId, id, kind }
      const options = yield* decodeOptions(claimed.options)
      const first: Cursor = options.overwrite ? { _tag: "check" } : { _tag: "apply" }
      const cursor = claimed.cursor === null ? first : yield* decodeCursor(claimed.cursor)
      switch (cursor._tag) {
        case "check":
          return yield* check(claimed, transfer)
        case "remove":
          return yield* remove(claimed, transfer, cursor)
        case "apply":
          return yield* apply(claimed, transfer, options)
      }
    })
  }
  return handler
})
