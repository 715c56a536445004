import { Array as Arr, Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { exceeds } from "../html/Text.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { auditedRows } from "../staff/StaffRows.ts"
import { checkConditions, type GivenConditions } from "./ConditionChecks.ts"
import { nameCharactersMax, RuleAction, rulesMax, RuleState, scoreMax, SpamRule } from "./SpamRule.ts"

const ruleRows = rowsOf(SpamRule)

const Count = Schema.Struct({ ruleId: Schema.BigInt, dry: Schema.Boolean, hits: Schema.Int })
const countRows = rowsOf(Count)
/** Maximum hits counted per rule. */
const hitsMax = 100_000

const isState = Schema.is(RuleState)
const isAction = Schema.is(RuleAction)

/**
 * A requested rule or change; absent fields stay unchanged, or get their default in a new rule. Conditions are replaced
 * as a whole.
 */
interface RuleWish {
  readonly name?: string | undefined
  readonly state?: string | undefined
  readonly action?: string | undefined
  readonly score?: number | undefined
  readonly conditions?: GivenConditions | undefined
  /** Position in the chain, starting at 1. */
  readonly place?: number | undefined
}

/** Matches of a rule in the last two weeks, by its state at the time. */
export interface RuleHits {
  readonly on: number
  readonly dry: number
}

type Refused = NotAllowed | RecordNotFound | Unprocessable

/** Chain of spam rules for staff; every node is told of a change at once. */
export class SpamRules extends Context.Service<SpamRules, {
  /** Rules in order. */
  readonly list: Effect.Effect<ReadonlyArray<SpamRule>>
  readonly find: (id: bigint) => Effect.Effect<SpamRule, RecordNotFound>
  readonly hits: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, RuleHits>>
  /** Adds a rule; by default it is off, and at the end of the chain. */
  readonly create: (by: AccountId, wish: RuleWish) => Effect.Effect<SpamRule, Refused>
  readonly update: (by: AccountId, id: bigint, wish: RuleWish) => Effect.Effect<SpamRule, Refused>
  readonly remove: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
  /** Moves the given rules to the front in this order; the others keep theirs. */
  readonly order: (by: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<void, Refused>
}>()("murmuration/services/spam/SpamRules") {
  static readonly layer = Layer.effect(SpamRules, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const tracked = yield* RowChanges.make
  const standing = requirePermission(sql)
  const target = ({ id, name }: SpamRule) => ({ type: "spamRule", id, label: name }) as const
  const logged = (rule: SpamRule) => Struct.omit(rule, ["createdAt", "id", "updatedAt"])
  const table = auditedRows({ sql, audit, table: "spam_rules", rows: ruleRows, target, logged })
  const ordered = sql`SELECT * FROM spam_rules ORDER BY place, id`

  /** Runs an action of staff and tells all nodes. Actions are serialised, so that positions stay consistent. */
  const act = <A, E>(by: AccountId, work: (all: ReadonlyArray<SpamRule>) => Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      yield* standing(by, "manageRules")
      yield* sql`LOCK TABLE spam_rules IN SHARE ROW EXCLUSIVE MODE`
      return yield* work(yield* ruleRows(ordered))
    }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))

  const checked = Effect.fnUntraced(function*(wish: RuleWish, before?: SpamRule) {
    const name = wish.name?.trim() ?? before?.name ?? ""
    const state = wish.state ?? before?.state ?? "off"
    const action = wish.action ?? before?.action ?? "report"
    const score = wish.score ?? before?.score ?? 1
    if (name === "") return yield* validationFailed("Name can't be blank")
    if (exceeds(name, nameCharactersMax)) {
      return yield* validationFailed(`Name is too long (maximum is ${nameCharactersMax} characters)`)
    }
    if (!isState(state)) return yield* validationFailed("State is not included in the list")
    if (!isAction(action)) return yield* validationFailed("Action is not included in the list")
    if (Math.abs(score) > scoreMax) return yield* validationFailed("Score is not included in the list")
    const conditions = wish.conditions !== undefined || before === undefined
      ? yield* checkConditions(wish.conditions ?? { lists: {}, numbers: {} })
      : before.conditions
    return { name, state, action, score, conditions, at: new Date(yield* Clock.currentTimeMillis) }
  })

  const place = (order: ReadonlyArray<bigint>) =>
    tracked("spam_rules")(
      sql`UPDATE spam_rules SET place = o.n FROM unnest(${order}::bigint[]) WITH ORDINALITY o (id, n)
      WHERE spam_rules.id = o.id AND place <> o.n`
    )
  const moved = (all: ReadonlyArray<bigint>, id: bigint, to: number) => {
    const rest = all.filter((other) => other !== id)
    return place(rest.toSpliced(Math.max(0, Math.min(to - 1, rest.length)), 0, id))
  }
  const found = (all: ReadonlyArray<SpamRule>, id: bigint) => {
    const rule = all.find((one) => one.id === id)
    return rule === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(rule)
  }

  return SpamRules.of({
    list: Effect.orDie(ruleRows(ordered)),
    find: traced("SpamRules.find")(table.find),
    hits: traced("SpamRules.hits")(function*(ids) {
      const rows = yield* countRows(sql`SELECT r.id AS rule_id, h.dry, count(*)::int AS hits
        FROM unnest(${ids}::bigint[]) r (id) CROSS JOIN LATERAL (
          SELECT dry FROM spam_hits WHERE rule_id = r.id ORDER BY id DESC LIMIT ${hitsMax}) h GROUP BY r.id, h.dry`)
      const byRule = Arr.groupBy(rows, ({ ruleId }) => String(ruleId))
      const count = (id: bigint, dry: boolean) => byRule[String(id)]?.find((row) => row.dry === dry)?.hits ?? 0
      return new Map(ids.map((id) => [id, { on: count(id, false), dry: count(id, true) }]))
    }, Effect.orDie),
    create: traced("SpamRules.create")((by, wish) =>
      act(
        by,
        Effect.fnUntraced(function*(all) {
          if (all.length >= rulesMax) return yield* validationFailed(`Rules are too many (maximum is ${rulesMax})`)
          const { action, at, conditions, name, score, state } = yield* checked(wish)
          const inserted = singleRow(
            yield* ruleRows(
              tracked("spam_rules")(
                sql`INSERT INTO spam_rules (id, place, name, state, action, score, conditions, created_at,
              updated_at)
            VALUES (next_id(${at.getTime()}), ${all.length + 1}, ${name}, ${state}, ${action}, ${score},
              ${JSON.stringify(conditions)}::jsonb, ${at}, ${at}) RETURNING *`
              )
            )
          )
          if (wish.place !== undefined) yield* moved([...all.map(({ id }) => id), inserted.id], inserted.id, wish.place)
          return yield* table.created(by, yield* table.take(inserted.id))
        })
      )
    ),
    update: traced("SpamRules.update")((by, id, wish) =>
      act(
        by,
        Effect.fnUntraced(function*(all) {
          const before = yield* found(all, id)
          const { action, at, conditions, name, score, state } = yield* checked(wish, before)
          yield* tracked("spam_rules")(
            sql`UPDATE spam_rules SET name = ${name}, state = ${state}, action = ${action}, score = ${score},
          conditions = ${JSON.stringify(conditions)}::jsonb, updated_at = ${at} WHERE id = ${id}`
          )
          if (wish.place !== undefined) yield* moved(all.map((one) => one.id), id, wish.place)
          const after = yield* table.take(id)
          const turned = before.state === after.state ? "update" : after.state === "on" ? "enable" : "disable"
          const live = before.state === "on" || after.state === "on"
          return yield* table.changed(by, before, after, live ? turned : "update")
        })
      )
    ),
    remove: traced("SpamRules.remove")((by, id) =>
      act(
        by,
        Effect.fnUntraced(function*(all) {
          const before = yield* found(all, id)
          yield* tracked("spam_rules")(table.remove(id))
          yield* place(all.flatMap((one) => one.id === id ? [] : [one.id]))
          yield* table.destroyed(by, before)
        })
      )
    ),
    order: traced("SpamRules.order")((by, ids) =>
      act(
        by,
        Effect.fnUntraced(function*(all) {
          const ordered = [...new Set(ids)].slice(0, rulesMax + 1)
          const rules = yield* Effect.forEach(ordered, (id) => found(all, id))
          const [first] = rules
          if (first === undefined) return
          yield* place([...ordered, ...all.flatMap(({ id }) => ordered.includes(id) ? [] : [id])])
          yield* audit.record({
            by,
            action: "update",
            target: target(first),
            before: { order: all.map(({ id }) => id) },
            after: { order: ordered }
          })
        })
      )
    )
  })
})
