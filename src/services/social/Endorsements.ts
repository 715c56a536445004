import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"

/** Maximum featured accounts of a profile. */
export const endorsementsMax = 500

/** Featured accounts of a profile, among those that its owner follows (S-213). `FollowLists` lists them. */
export class Endorsements extends Context.Service<Endorsements, {
  /**
   * Features a followed account, once. The caller's transaction has locked the pair of accounts (`Pairs`). Fails if the
   * owner does not follow the account.
   */
  readonly add: (owner: bigint, target: bigint) => Effect.Effect<void, SqlError | Unprocessable>
  readonly remove: (owner: bigint, target: bigint) => Effect.Effect<void, SqlError>
}>()("murmuration/services/social/Endorsements") {
  static readonly layer = Layer.effect(
    Endorsements,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      return Endorsements.of({
        add: traced("Endorsements.add")(function*(owner, target) {
          const followed = yield* sql`SELECT FROM follows WHERE account_id = ${owner} AND target_account_id = ${target}`
          if (followed.length === 0) {
            return yield* validationFailed("You must be already following the person you want to endorse")
          }
          const others =
            yield* sql`SELECT FROM endorsements WHERE account_id = ${owner} AND target_account_id <> ${target}
            LIMIT ${rowsMax(sql, endorsementsMax)}`
          if (others.length >= endorsementsMax) {
            return yield* validationFailed(`You cannot feature more than ${endorsementsMax} accounts`)
          }
          yield* tracked("relations", [owner, target])(sql`INSERT INTO endorsements (id, account_id, target_account_id)
            VALUES (next_id(${yield* Clock.currentTimeMillis}), ${owner}, ${target}) ON CONFLICT DO NOTHING`)
        }),
        remove: traced("Endorsements.remove")((owner, target) =>
          Effect.asVoid(
            tracked("relations", [owner, target])(
              sql`DELETE FROM endorsements WHERE account_id = ${owner} AND target_account_id = ${target}`
            )
          )
        )
      })
    })
  )
}
