import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf } from "../database/Rows.ts"
import { type CompiledRule, compileRule } from "./SpamMatching.ts"
import { rulesMax, SpamRule } from "./SpamRule.ts"

/** Lifetime of cached rules, and while this node may miss changes, in milliseconds. */
const [keptMillisMax, aloneMillisMax] = [5 * 60_000, 5_000]

const ruleRows = rowsOf(SpamRule)

/** Spam rules that are on or dry, in order. Every node is told of changes. */
export class ActiveSpamRules extends Context.Service<ActiveSpamRules, {
  readonly current: Effect.Effect<ReadonlyArray<CompiledRule>, SqlError>
}>()("murmuration/services/spam/ActiveSpamRules") {
  static readonly layer = Layer.effect(
    ActiveSpamRules,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const load = Effect.map(
        ruleRows(sql`SELECT * FROM spam_rules WHERE state <> 'off' ORDER BY place, id LIMIT ${rulesMax}`),
        (rows) => rows.map(compileRule)
      )
      return ActiveSpamRules.of({
        current: yield* single({ kinds: ["spam_rules"], millisMax: keptMillisMax, aloneMillisMax }, load)
      })
    })
  ).pipe(Layer.provide(Changes.layer))
}
