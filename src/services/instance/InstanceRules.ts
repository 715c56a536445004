import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { languageTag } from "./Languages.ts"

/** Maximum characters of a rule and of its hint, and maximum rules of a server. */
const ruleCharactersMax = 300
const ruleHintCharactersMax = 1_000
export const rulesMax = 50
/** Maximum translations of a rule. */
const ruleTranslationsMax = 50

/** A rule in one language. */
interface RuleText {
  readonly text: string
  readonly hint: string
}

/** Changes to a rule; absent fields stay unchanged. */
interface RuleChange {
  readonly text?: string | undefined
  readonly hint?: string | undefined
  /** Translations by language tag (BCP 47). Undefined removes one; languages that are not named stay unchanged. */
  readonly translations?: Readonly<Record<string, RuleText | undefined>> | undefined
  /** Position in the list, starting at 1. */
  readonly place?: number | undefined
}

type Refused = NotAllowed | RecordNotFound | Unprocessable

/**
 * Changes the server's rules, each change in one transaction with its audit log entry; every node is informed. Removed
 * rules are kept for reports that name them. `by` is undefined for the command line.
 */
export class InstanceRules extends Context.Service<InstanceRules, {
  /** Adds a rule and returns its id; by default it is the last. */
  readonly add: (
    by: AccountId | undefined,
    rule: RuleText & Pick<RuleChange, "place" | "translations">
  ) => Effect.Effect<bigint, NotAllowed | Unprocessable>
  readonly change: (by: AccountId | undefined, id: bigint, change: RuleChange) => Effect.Effect<void, Refused>
  readonly remove: (by: AccountId | undefined, id: bigint) => Effect.Effect<void, NotAllowed | RecordNotFound>
}>()("murmuration/services/instance/InstanceRules") {
  static readonly layer = Layer.effect(InstanceRules, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const Rule = Schema.Struct({
  id: Schema.BigInt,
  text: Schema.String,
  hint: Schema.String,
  translations: Schema.Record(Schema.String, Schema.Struct({ text: Schema.String, hint: Schema.String }))
})
type Rule = typeof Rule.Type
const ruleRows = rowsOf(Rule)

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const tracked = yield* RowChanges.make
  const standing = requirePermission(sql)

  /** Runs an action of staff and tells all nodes. */
  const act = <A, E>(by: AccountId | undefined, work: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      if (by !== undefined) yield* standing(by, "manageRules")
      return yield* work
    }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))

  /** Rules in order, locked against concurrent changes. */
  const list = ruleRows(sql`SELECT id, text, hint, translations FROM rules WHERE deleted_at IS NULL
    ORDER BY priority, id FOR UPDATE`)
  const found = Effect.fnUntraced(function*(all: ReadonlyArray<Rule>, id: bigint) {
    return all.find((rule) => rule.id === id) ?? (yield* new RecordNotFound())
  })
  const moveTo = Effect.fnUntraced(function*(all: ReadonlyArray<bigint>, id: bigint, at: number) {
    const rest = all.filter((other) => other !== id)
    const order = rest.toSpliced(Math.max(0, Math.min(at - 1, rest.length)), 0, id)
    yield* tracked("instance")(
      sql`UPDATE rules SET priority = o.n FROM unnest(${order}::bigint[]) WITH ORDINALITY o (id, n)
      WHERE rules.id = o.id`
    )
  })

  const add: InstanceRules["Service"]["add"] = (by, given) =>
    act(
      by,
      Effect.gen(function*() {
        const rule = yield* changed({ text: "", hint: "", translations: {} }, given)
        yield* requireCapacity(sql, { table: "rules", name: "Rules", max: rulesMax, counted: sql`deleted_at IS NULL` })
        const all = (yield* list).map(({ id }) => id)
        const { id } = singleRow(
          yield* idRows(
            tracked("instance")(sql`INSERT INTO rules (id, priority, text, hint, translations)
            SELECT next_id(${yield* Clock.currentTimeMillis}), coalesce(max(priority), 0) + 1, ${rule.text},
              ${rule.hint}, ${JSON.stringify(rule.translations)}::jsonb FROM rules RETURNING id`)
          )
        )
        if (given.place !== undefined) yield* moveTo(all, id, given.place)
        yield* audit.record({ by, action: "create", target: { type: "rule", id, label: rule.text }, after: rule })
        return id
      })
    )

  const change: InstanceRules["Service"]["change"] = (by, id, given) =>
    act(
      by,
      Effect.gen(function*() {
        const all = yield* list
        const { id: _, ...before } = yield* found(all, id)
        const after = yield* changed(before, given)
        yield* tracked("instance")(sql`UPDATE rules SET text = ${after.text}, hint = ${after.hint},
          translations = ${JSON.stringify(after.translations)}::jsonb WHERE id = ${id}`)
        const was = all.findIndex((rule) => rule.id === id) + 1
        if (given.place !== undefined) yield* moveTo(all.map((rule) => rule.id), id, given.place)
        yield* audit.record({
          by,
          action: "update",
          target: { type: "rule", id, label: before.text },
          before: { ...before, place: was },
          after: { ...after, place: given.place ?? was }
        })
      })
    )

  const remove: InstanceRules["Service"]["remove"] = (by, id) =>
    act(
      by,
      Effect.gen(function*() {
        const { id: _, ...before } = yield* found(yield* list, id)
        yield* tracked("instance")(
          sql`UPDATE rules SET deleted_at = ${new Date(yield* Clock.currentTimeMillis)} WHERE id = ${id}`
        )
        yield* audit.record({ by, action: "destroy", target: { type: "rule", id, label: before.text }, before })
      })
    )

  return InstanceRules.of({
    add: traced("InstanceRules.add")(add),
    change: traced("InstanceRules.change")(change),
    remove: traced("InstanceRules.remove")(remove)
  })
})

const checked = Effect.fnUntraced(function*({ hint, text }: RuleText) {
  if (text.trim() === "") return yield* validationFailed("Text can't be blank")
  if (hasMoreCharacters(text, ruleCharactersMax)) {
    return yield* validationFailed(`Text is too long (maximum is ${ruleCharactersMax} characters)`)
  }
  if (hasMoreCharacters(hint, ruleHintCharactersMax)) {
    return yield* validationFailed(`Hint is too long (maximum is ${ruleHintCharactersMax} characters)`)
  }
  return { text: text.replaceAll("\0", ""), hint: hint.replaceAll("\0", "") }
})

/** Returns a rule with changes applied; fails for an invalid text or language tag. */
const changed = Effect.fnUntraced(function*(before: Omit<Rule, "id">, { hint, text, translations = {} }: RuleChange) {
  const after = yield* checked({ text: text ?? before.text, hint: hint ?? before.hint })
  const words = new Map(Object.entries(before.translations))
  for (const [language, rule] of Object.entries(translations)) {
    const tag = languageTag(language)
    if (tag === undefined) return yield* validationFailed(`${language} is not a language tag`)
    if (rule === undefined) words.delete(tag)
    else words.set(tag, yield* checked(rule))
  }
  if (words.size > ruleTranslationsMax) {
    return yield* validationFailed(`Translations are too many (maximum is ${ruleTranslationsMax})`)
  }
  return { ...after, translations: Object.fromEntries(words) }
})
