import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import { StoredPolicy } from "./InteractionPolicy.ts"
import { Visibility } from "./Visibility.ts"

/** Policies of new posts by visibility: policy words with the visibility and a colon as prefix. */
export const StoredDefaults = StoredPolicy
type StoredDefaults = typeof StoredDefaults.Type
const defaultRows = rowsOf(Schema.Struct({ defaultPolicies: StoredDefaults }))

/** Returns the default policy words of a visibility. */
export const defaultFor = (stored: StoredDefaults, visibility: Visibility): ReadonlyArray<string> =>
  (stored ?? []).flatMap((word) => word.startsWith(`${visibility}:`) ? [word.slice(visibility.length + 1)] : [])

/** Policy words by visibility; an empty policy allows everything to everyone. */
export type Defaults = { readonly [V in Visibility]: ReadonlyArray<string> }

/** Default interaction policies of an account's new posts. */
export class DefaultPolicies extends Context.Service<DefaultPolicies, {
  readonly of: (account: AccountId) => Effect.Effect<Defaults>
  readonly change: (account: AccountId, defaults: Defaults) => Effect.Effect<void>
}>()("murmuration/services/statuses/DefaultPolicies") {
  static readonly layer = Layer.effect(
    DefaultPolicies,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      return DefaultPolicies.of({
        of: traced("DefaultPolicies.of")(function*(account: AccountId) {
          const [row] = yield* defaultRows(sql`SELECT default_policies FROM users WHERE account_id = ${account}`)
          const stored = row?.defaultPolicies ?? null
          return {
            public: defaultFor(stored, "public"),
            unlisted: defaultFor(stored, "unlisted"),
            private: defaultFor(stored, "private"),
            direct: defaultFor(stored, "direct")
          }
        }, Effect.orDie),
        change: traced("DefaultPolicies.change")((account: AccountId, defaults: Defaults) => {
          const words = Visibility.literals.flatMap((visibility) =>
            defaults[visibility].map((word) => `${visibility}:${word}`)
          )
          return Effect.asVoid(Effect.orDie(
            tracked("user", [account])(
              sql`UPDATE users SET default_policies = ${
                words.length === 0 ? null : words
              }::text[] WHERE account_id = ${account}`
            )
          ))
        })
      })
    })
  )
}
