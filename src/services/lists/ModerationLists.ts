import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { listedRowsMax, requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { urlReader } from "../federation/documents/ForeignValues.ts"
import { exceeds } from "../html/Text.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { auditedRows, isTaken } from "../staff/StaffRows.ts"

/** Maximum followed lists, characters of a name and of a URL, and priority. */
const listsMax = 50
const nameCharactersMax = 100
const urlCharactersMax = 2_000
const priorityMax = 1_000_000

export const ModerationList = Schema.Struct({
  id: Schema.BigInt,
  name: Schema.String,
  url: Schema.String,
  type: Schema.Literals(["csv", "fires"]),
  /** Action for domains without one. */
  action: Schema.Literals(["accept", "reject"]),
  /** Higher priorities win. */
  priority: Schema.Int,
  /** False: everything is suggested to staff instead. */
  applyAutomatically: Schema.Boolean,
  retractAutomatically: Schema.Boolean,
  /** Actions that would end local follows are only suggested. */
  preserveRelationships: Schema.Boolean,
  /** Also changes rules that staff made. */
  overrideUnattributed: Schema.Boolean,
  createdAt: Timestamptz,
  syncedAt: Schema.NullOr(Timestamptz),
  /** Error of the last sync. */
  error: Schema.NullOr(Schema.String),
  endedAt: Schema.NullOr(Timestamptz)
})
export type ModerationList = typeof ModerationList.Type
const listRows = rowsOf(ModerationList)

/** Requested settings of a list; absent ones are kept, or get their defaults. */
interface ListChange {
  readonly name?: string | undefined
  readonly url?: string | undefined
  readonly type?: string | undefined
  readonly action?: string | undefined
  readonly priority?: number | undefined
  readonly applyAutomatically?: boolean | undefined
  readonly retractAutomatically?: boolean | undefined
  readonly preserveRelationships?: boolean | undefined
  readonly overrideUnattributed?: boolean | undefined
}

const isType = Schema.is(ModerationList.fields.type)
const isAction = Schema.is(ModerationList.fields.action)

/** Lists that staff follow. A change schedules a sync at once; removing a list reverts its effects. */
export class ModerationLists extends Context.Service<ModerationLists, {
  /** Followed lists, highest priority first. */
  readonly list: Effect.Effect<ReadonlyArray<ModerationList>>
  readonly find: (id: bigint) => Effect.Effect<ModerationList, RecordNotFound>
  readonly create: (by: AccountId, wish: ListChange) => Effect.Effect<ModerationList, Unprocessable>
  readonly update: (
    by: AccountId,
    id: bigint,
    wish: ListChange
  ) => Effect.Effect<ModerationList, Unprocessable | RecordNotFound>
  readonly remove: (by: AccountId, id: bigint) => Effect.Effect<void, RecordNotFound>
  /** Schedules a sync now. */
  readonly scheduleSync: (id: bigint) => Effect.Effect<ModerationList, RecordNotFound>
}>()("murmuration/services/lists/ModerationLists") {
  static readonly layer = Layer.effect(ModerationLists, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const { outboundAllow } = yield* ServerConfig
  const readUrl = urlReader(outboundAllow)
  const target = ({ id, name }: ModerationList) => ({ type: "moderationList", id, label: name }) as const
  const logged = (list: ModerationList) => Struct.omit(list, ["createdAt", "endedAt", "error", "id", "syncedAt"])
  const table = auditedRows({ sql, audit, table: "moderation_lists", rows: listRows, target, logged })

  const live = (list: ModerationList) =>
    list.endedAt === null ? Effect.succeed(list) : Effect.fail(new RecordNotFound())
  const take = (id: bigint) => Effect.flatMap(table.take(id), live)

  const checked = Effect.fnUntraced(function*(wish: ListChange, before?: ModerationList) {
    const name = wish.name?.trim() ?? before?.name ?? ""
    const written = wish.url?.trim() ?? before?.url ?? ""
    const type = wish.type ?? before?.type ?? "csv"
    const action = wish.action ?? before?.action ?? "reject"
    const url = written.length > urlCharactersMax ? undefined : readUrl(written)?.href
    const problems = [
      ...(name === "" ? ["Name can't be blank"] : []),
      ...(exceeds(name, nameCharactersMax) ? [`Name is too long (maximum is ${nameCharactersMax} characters)`] : []),
      ...(written === "" ? ["Url can't be blank"] : url === undefined ? ["Url is invalid"] : []),
      ...(isType(type) ? [] : ["Type is not included in the list"]),
      ...(isAction(action) ? [] : ["List action is not included in the list"])
    ]
    if (problems.length > 0 || url === undefined || !isType(type) || !isAction(action)) {
      return yield* validationFailed(...problems)
    }
    const priority = wish.priority ?? before?.priority ?? 0
    return {
      name,
      url,
      type,
      action,
      priority: Math.max(-priorityMax, Math.min(priority, priorityMax)),
      applyAutomatically: wish.applyAutomatically ?? before?.applyAutomatically ?? false,
      retractAutomatically: wish.retractAutomatically ?? before?.retractAutomatically ?? true,
      preserveRelationships: wish.preserveRelationships ?? before?.preserveRelationships ?? true,
      overrideUnattributed: wish.overrideUnattributed ?? before?.overrideUnattributed ?? false,
      dueAt: new Date(yield* Clock.currentTimeMillis)
    }
  })
  const taken = validationFailed("Url has already been taken")

  return ModerationLists.of({
    list: table.rows(sql`SELECT * FROM moderation_lists WHERE ended_at IS NULL
      ORDER BY priority DESC, id LIMIT ${rowsMax(sql, listedRowsMax)}`).pipe(
      Effect.orDie,
      Effect.withSpan("ModerationLists.list")
    ),
    find: traced("ModerationLists.find")((id) => Effect.flatMap(table.find(id), live)),
    create: traced("ModerationLists.create")(function*(by, wish) {
      const row = yield* checked(wish)
      return yield* transaction(sql)(Effect.gen(function*() {
        // A removed list keeps its row until its rules are reverted.
        const counted = sql`ended_at IS NULL`
        yield* requireCapacity(sql, { table: "moderation_lists", name: "Lists", max: listsMax, counted })
        const inserted = singleRow(
          yield* listRows(sql`INSERT INTO moderation_lists (id, name, url, type, action, priority, apply_automatically,
            retract_automatically, preserve_relationships, override_unattributed, created_at, due_at)
          VALUES (next_id(${row.dueAt.getTime()}), ${row.name}, ${row.url}, ${row.type}, ${row.action}, ${row.priority},
            ${row.applyAutomatically}, ${row.retractAutomatically}, ${row.preserveRelationships},
            ${row.overrideUnattributed}, ${row.dueAt}, ${row.dueAt}) RETURNING *`)
        )
        return yield* table.created(by, inserted)
      })).pipe(Effect.catchIf(isTaken, () => Effect.fail(taken)), Effect.catchTag("SqlError", Effect.die))
    }),
    update: traced("ModerationLists.update")((by, id, wish) =>
      transaction(sql)(Effect.gen(function*() {
        const before = yield* take(id)
        const row = yield* checked(wish, before)
        const after = singleRow(
          yield* listRows(sql`UPDATE moderation_lists SET name = ${row.name}, url = ${row.url}, type = ${row.type},
            action = ${row.action}, priority = ${row.priority}, apply_automatically = ${row.applyAutomatically},
            retract_automatically = ${row.retractAutomatically}, preserve_relationships = ${row.preserveRelationships},
            override_unattributed = ${row.overrideUnattributed}, due_at = ${row.dueAt},
            changes_from = CASE WHEN url = ${row.url} AND type = ${row.type} THEN changes_from END WHERE id = ${id} RETURNING *`)
        )
        return yield* table.changed(by, before, after)
      })).pipe(Effect.catchIf(isTaken, () => Effect.fail(taken)), Effect.catchTag("SqlError", Effect.die))
    ),
    remove: traced("ModerationLists.remove")((by, id) =>
      transaction(sql)(Effect.gen(function*() {
        const before = yield* take(id)
        const now = new Date(yield* Clock.currentTimeMillis)
        // The URL can be used again at once.
        yield* sql`UPDATE moderation_lists SET ended_at = ${now}, due_at = ${now}, url = url || '#' || id WHERE id = ${id}`
        yield* table.destroyed(by, before)
      })).pipe(Effect.catchTag("SqlError", Effect.die))
    ),
    scheduleSync: traced("ModerationLists.scheduleSync")((id) =>
      transaction(sql)(Effect.gen(function*() {
        const list = yield* take(id)
        yield* sql`UPDATE moderation_lists SET due_at = ${new Date(yield* Clock.currentTimeMillis)} WHERE id = ${id}`
        return list
      })).pipe(Effect.catchTag("SqlError", Effect.die))
    )
  })
})
