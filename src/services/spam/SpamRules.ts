import { Array as Arr, Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { Broadcast } from "../Broadcast.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../Errors.ts"
import { exceeds } from "../html/Text.ts"
import type { AccountId } from "../Ids.ts"
import { only, rowsOf } from "../Rows.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { standingOf } from "../staff/Rank.ts"
import { staffRows } from "../staff/StaffRows.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"
import { checkConditions, type GivenConditions } from "./ConditionChecks.ts"
import { nameCharactersMax, RuleAction, rulesMax, RuleState, scoreMax, SpamRule } from "./SpamRule.ts"

const ruleRows = rowsOf(SpamRule)

const Count = Schema.Struct({ ruleId: Schema.BigInt, dry: Schema.Boolean, hits: Schema.Int })
const countRows = rowsOf(Count)
/** Hits of a rule that are counted at most. */
const hitsMax = 100_000

const isState = Schema.is(RuleState)
const isAction = Schema.is(RuleAction)

/** What is said of a rule; what is absent stays, or is as it is by itself. Conditions are said all at once. */
interface RuleWish {
  readonly name?: string | undefined
  readonly state?: string | undefined
  readonly action?: string | undefined
  readonly score?: number | undefined
  readonly conditions?: GivenConditions | undefined
  /** Its place in the chain, which begins with 1. */
  readonly place?: number | undefined
}

/** Posts that a rule found in the last two weeks, while it was on and while it was dry. */
export interface RuleHits {
  readonly on: number
  readonly dry: number
}

type Refused = NotAllowed | RecordNotFound | Unprocessable

/** The chain of rules against spam, as staff write it; every node hears of a change at once. */
export class SpamRules extends Context.Service<SpamRules, {
  /** In their order. */
  readonly list: Effect.Effect<ReadonlyArray<SpamRule>>
  readonly find: (id: bigint) => Effect.Effect<SpamRule, RecordNotFound>
  readonly hits: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, RuleHits>>
  /** At the end of the chain, and off, unless something else is said. */
  readonly create: (by: AccountId, wish: RuleWish) => Effect.Effect<SpamRule, Refused>
  readonly update: (by: AccountId, id: bigint, wish: RuleWish) => Effect.Effect<SpamRule, Refused>
  readonly remove: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
  /** Puts these first, in this order; the others follow as they were. */
  readonly order: (by: AccountId, ids: ReadonlyArray<bigint>) => Effect.Effect<void, Refused>
}>()("murmuration/services/spam/SpamRules") {
  static readonly layer = Layer.effect(SpamRules, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const broadcast = yield* Broadcast
  const standing = standingOf(sql)
  const table = staffRows(sql, "spam_rules", ruleRows)
  const target = ({ id, name }: SpamRule) => ({ type: "spamRule", id, label: name }) as const
  const logged = (rule: SpamRule) => Struct.omit(rule, ["createdAt", "id", "updatedAt"])
  const ordered = sql`SELECT * FROM spam_rules ORDER BY place, id`

  /** One act of staff, heard of by every node. Acts follow one another, so that places stay in order. */
  const act = <A, E>(by: AccountId, work: (all: ReadonlyArray<SpamRule>) => Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      yield* standing(by, "manageRules")
      yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "spam_rules", ids: [] }))
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
    sql`UPDATE spam_rules SET place = o.n FROM unnest(${order}::bigint[]) WITH ORDINALITY o (id, n)
      WHERE spam_rules.id = o.id AND place <> o.n`
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
          const made = only(
            yield* ruleRows(sql`INSERT INTO spam_rules (id, place, name, state, action, score, conditions, created_at,
              updated_at)
            VALUES (next_id(${at.getTime()}), ${all.length + 1}, ${name}, ${state}, ${action}, ${score},
              ${JSON.stringify(conditions)}::jsonb, ${at}, ${at}) RETURNING *`)
          )
          if (wish.place !== undefined) yield* moved([...all.map(({ id }) => id), made.id], made.id, wish.place)
          const rule = yield* table.take(made.id)
          yield* audit.record({ by, action: "create", target: target(rule), after: logged(rule) })
          return rule
        })
      )
    ),
    update: traced("SpamRules.update")((by, id, wish) =>
      act(
        by,
        Effect.fnUntraced(function*(all) {
          const before = yield* found(all, id)
          const { action, at, conditions, name, score, state } = yield* checked(wish, before)
          yield* sql`UPDATE spam_rules SET name = ${name}, state = ${state}, action = ${action}, score = ${score},
          conditions = ${JSON.stringify(conditions)}::jsonb, updated_at = ${at} WHERE id = ${id}`
          if (wish.place !== undefined) yield* moved(all.map((one) => one.id), id, wish.place)
          const after = yield* table.take(id)
          const turned = before.state === after.state ? "update" : after.state === "on" ? "enable" : "disable"
          yield* audit.record({
            by,
            action: before.state === "on" || after.state === "on" ? turned : "update",
            target: target(after),
            before: logged(before),
            after: logged(after)
          })
          return after
        })
      )
    ),
    remove: traced("SpamRules.remove")((by, id) =>
      act(
        by,
        Effect.fnUntraced(function*(all) {
          const before = yield* found(all, id)
          yield* table.remove(id)
          yield* place(all.flatMap((one) => one.id === id ? [] : [one.id]))
          yield* audit.record({ by, action: "destroy", target: target(before), before: logged(before) })
        })
      )
    ),
    order: traced("SpamRules.order")((by, ids) =>
      act(
        by,
        Effect.fnUntraced(function*(all) {
          const wanted = [...new Set(ids)].slice(0, rulesMax + 1)
          const rules = yield* Effect.forEach(wanted, (id) => found(all, id))
          const [first] = rules
          if (first === undefined) return
          yield* place([...wanted, ...all.flatMap(({ id }) => wanted.includes(id) ? [] : [id])])
          yield* audit.record({
            by,
            action: "update",
            target: target(first),
            before: { order: all.map(({ id }) => id) },
            after: { order: wanted }
          })
        })
      )
    )
  })
})
