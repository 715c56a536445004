import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf } from "../Rows.ts"
import { staffBits } from "../staff/Permissions.ts"
import { skeleton, skeletonCharactersMin } from "./Skeletons.ts"
import { Lookalike } from "./SpamRule.ts"

/** Accounts of each kind whose names are known, those with most followers first; and how long, in milliseconds. */
const namesMax = { staff: 500, local: 5_000, followed: 1_000 }
const keptMillisMax = 10 * 60_000

const nameRows = rowsOf(
  Schema.Struct({ kind: Lookalike, id: Schema.BigInt, username: Schema.String, displayName: Schema.String })
)

interface Named {
  readonly accountId: bigint
  readonly username: string
  readonly displayName: string
}

/** Whose names somebody else may wear: by what names look like. */
export class ProtectedNames extends Context.Service<ProtectedNames, {
  /** Tells of an account for whom its names pass. */
  readonly current: Effect.Effect<(account: Named) => ReadonlyArray<Lookalike>, SqlError>
}>()("murmuration/services/spam/ProtectedNames") {
  static readonly layer = Layer.effect(
    ProtectedNames,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const shown = sql.literal("a.id, a.username, a.display_name")
      const load = Effect.gen(function*() {
        const rows = yield* nameRows(sql`
          (SELECT 'staff' AS kind, ${shown} FROM users u JOIN roles r ON r.id = u.role_id
              JOIN accounts a ON a.id = u.account_id
            WHERE r.permissions & ${staffBits}::bigint <> 0 ORDER BY a.id LIMIT ${namesMax.staff})
          UNION ALL (SELECT 'local', ${shown} FROM users u JOIN accounts a ON a.id = u.account_id
              JOIN account_stats c ON c.account_id = a.id
            WHERE a.suspended_at IS NULL ORDER BY c.followers_count DESC, a.id LIMIT ${namesMax.local})
          UNION ALL (SELECT 'followed', ${shown} FROM account_stats c JOIN accounts a ON a.id = c.account_id
            WHERE a.suspended_at IS NULL ORDER BY c.followers_count DESC, a.id LIMIT ${namesMax.followed})`)
        const known = new Map<string, Array<{ readonly kind: Lookalike; readonly id: bigint }>>()
        for (const { displayName, id, kind, username } of rows) {
          for (const look of new Set([skeleton(username), skeleton(displayName)])) {
            if (look.length < skeletonCharactersMin) continue
            const others = known.get(look)
            if (others === undefined) known.set(look, [{ kind, id }])
            else others.push({ kind, id })
          }
        }
        return ({ accountId, displayName, username }: Named) => [
          ...new Set(
            [skeleton(username), skeleton(displayName)].flatMap((look) => known.get(look) ?? [])
              .flatMap(({ id, kind }) => id === accountId ? [] : [kind])
          )
        ]
      })
      return ProtectedNames.of({ current: yield* single({ kinds: ["roles"], millisMax: keptMillisMax }, load) })
    })
  ).pipe(Layer.provide(Changes.layer))
}
