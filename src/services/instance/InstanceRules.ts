import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../Broadcast.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../Errors.ts"
import { idRows, only } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"
import { isLanguageTag } from "./Languages.ts"

/** Characters of a rule and of its explanation, and rules that a server may have. */
const ruleCharactersMax = 300
const ruleHintCharactersMax = 1_000
const rulesMax = 50

/** A rule in one language. */
interface RuleText {
  readonly text: string
  readonly hint: string
}

/** Writes the server's rules; every node hears of it. Removed ones stay for the reports that name them. */
export class InstanceRules extends Context.Service<InstanceRules, {
  /** At the end of the list; answers its id. */
  readonly add: (rule: RuleText) => Effect.Effect<bigint, Unprocessable>
  /** Undefined fields stay. */
  readonly change: (
    id: bigint,
    rule: { readonly text?: string | undefined; readonly hint?: string | undefined }
  ) => Effect.Effect<void, RecordNotFound | Unprocessable>
  /** In another language (BCP 47); undefined takes the translation away. */
  readonly translate: (
    id: bigint,
    language: string,
    rule: RuleText | undefined
  ) => Effect.Effect<void, RecordNotFound | Unprocessable>
  /** To a place of the list, which begins with 1. */
  readonly move: (id: bigint, place: number) => Effect.Effect<void, RecordNotFound>
  readonly remove: (id: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/instance/InstanceRules") {
  static readonly layer = Layer.effect(InstanceRules, Effect.suspend(() => make))
}

const checked = Effect.fnUntraced(
  function*({ hint = "", text }: { readonly text?: string | undefined; readonly hint?: string | undefined }) {
    if (text?.trim() === "") return yield* validationFailed("Text can't be blank")
    if (Array.from(text ?? "").length > ruleCharactersMax) {
      return yield* validationFailed(`Text is too long (maximum is ${ruleCharactersMax} characters)`)
    }
    if (Array.from(hint).length > ruleHintCharactersMax) {
      return yield* validationFailed(`Hint is too long (maximum is ${ruleHintCharactersMax} characters)`)
    }
  }
)

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast

  const told = broadcast.publish({ _tag: "Changed", kind: "instance", ids: [] })
  const found = Effect.fnUntraced(function*(rows: ReadonlyArray<unknown>) {
    if (rows.length === 0) return yield* new RecordNotFound()
    yield* told
  })
  /** The ids in the order of the list, locked against others who change it. */
  const ids = Effect.map(
    idRows(sql`SELECT id FROM rules WHERE deleted_at IS NULL ORDER BY priority, id FOR UPDATE`),
    (rows) => rows.map(({ id }) => id)
  )

  return InstanceRules.of({
    add: traced("InstanceRules.add")(function*(rule) {
      yield* checked(rule)
      const millis = yield* Clock.currentTimeMillis
      const id = yield* Effect.gen(function*() {
        if ((yield* Effect.orDie(ids)).length >= rulesMax) {
          return yield* validationFailed(`Rules are too many (maximum is ${rulesMax})`)
        }
        const rows = idRows(sql`INSERT INTO rules (id, priority, text, hint)
          SELECT next_id(${millis}), coalesce(max(priority), 0) + 1, ${rule.text}, ${rule.hint} FROM rules RETURNING id`)
        return only(yield* Effect.orDie(rows)).id
      }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
      yield* told
      return id
    }),
    change: traced("InstanceRules.change")(function*(id, rule) {
      yield* checked(rule)
      yield* found(
        yield* Effect.orDie(sql`UPDATE rules SET text = coalesce(${rule.text ?? null}, text),
        hint = coalesce(${rule.hint ?? null}, hint) WHERE id = ${id} AND deleted_at IS NULL RETURNING id`)
      )
    }),
    translate: traced("InstanceRules.translate")(function*(id, language, rule) {
      if (!isLanguageTag(language)) return yield* validationFailed(`${language} is not a language tag`)
      if (rule !== undefined) yield* checked(rule)
      const value = JSON.stringify(rule === undefined ? {} : { [language]: rule })
      yield* found(
        yield* Effect.orDie(sql`UPDATE rules SET translations = (translations - ${language}::text) || ${value}::jsonb
        WHERE id = ${id} AND deleted_at IS NULL RETURNING id`)
      )
    }),
    move: traced("InstanceRules.move")(function*(id, place) {
      const moved = yield* Effect.gen(function*() {
        const all = yield* ids
        if (!all.includes(id)) return []
        const rest = all.filter((other) => other !== id)
        const order = rest.toSpliced(Math.max(0, Math.min(place - 1, rest.length)), 0, id)
        return yield* sql`UPDATE rules SET priority = o.n FROM unnest(${order}::bigint[]) WITH ORDINALITY o (id, n)
          WHERE rules.id = o.id RETURNING rules.id`
      }).pipe(transaction(sql), Effect.orDie)
      yield* found(moved)
    }),
    remove: traced("InstanceRules.remove")(function*(id) {
      const at = new Date(yield* Clock.currentTimeMillis)
      yield* found(
        yield* Effect.orDie(
          sql`UPDATE rules SET deleted_at = ${at} WHERE id = ${id} AND deleted_at IS NULL RETURNING id`
        )
      )
    })
  })
})
