import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf } from "../database/Rows.ts"
import { type HashParts, isSimilar, isUsableHash, splitHash } from "../media/Likeness.ts"
import { staffBits } from "../staff/Permissions.ts"
import { skeleton, skeletonCharactersMin } from "./Skeletons.ts"
import { Lookalike, rulesMax, termsMax } from "./SpamRule.ts"

/**
 * Maximum protected accounts of each kind, those with most followers first, and lifetime of the cache in milliseconds.
 */
const namesMax = { staff: 500, local: 5_000, followed: 1_000, named: rulesMax * termsMax }
const keptMillisMax = 10 * 60_000

const nameRows = rowsOf(
  Schema.Struct({
    kind: Schema.Union([Lookalike, Schema.Literal("named")]),
    /** Handle of the account in a rule, if a rule names it. */
    handle: Schema.NullOr(Schema.String),
    id: Schema.BigInt,
    username: Schema.String,
    displayName: Schema.String,
    avatarHash: Schema.NullOr(Schema.BigInt)
  })
)

interface AccountLooks {
  readonly accountId: bigint
  readonly username: string
  readonly displayName: string
  readonly avatarHash: bigint | null
}

/** Protected accounts that an account resembles. */
export interface Resemblances {
  readonly lookAlike: ReadonlyArray<Lookalike>
  readonly avatarAlike: ReadonlyArray<Lookalike>
  /** Handles as in the rules. */
  readonly avatarAccounts: ReadonlyArray<string>
}

/** Names and pictures that other accounts must not imitate. */
export class ProtectedNames extends Context.Service<ProtectedNames, {
  /** Returns a function that finds the protected accounts which an account resembles. */
  readonly current: Effect.Effect<(account: AccountLooks) => Resemblances, SqlError>
}>()("murmuration/services/spam/ProtectedNames") {
  static readonly layer = Layer.effect(
    ProtectedNames,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const shown = sql.literal("a.id, a.username, a.display_name, a.avatar_hash")
      const load = Effect.gen(function*() {
        const rows = yield* nameRows(sql`
          (SELECT 'staff' AS kind, NULL AS handle, ${shown} FROM users u JOIN roles r ON r.id = u.role_id
              JOIN accounts a ON a.id = u.account_id
            WHERE r.permissions & ${staffBits}::bigint <> 0 ORDER BY a.id LIMIT ${namesMax.staff})
          UNION ALL (SELECT 'local', NULL, ${shown} FROM users u JOIN accounts a ON a.id = u.account_id
              JOIN account_stats c ON c.account_id = a.id
            WHERE a.suspended_at IS NULL ORDER BY c.followers_count DESC, a.id LIMIT ${namesMax.local})
          UNION ALL (SELECT 'followed', NULL, ${shown} FROM account_stats c JOIN accounts a ON a.id = c.account_id
            WHERE a.suspended_at IS NULL ORDER BY c.followers_count DESC, a.id LIMIT ${namesMax.followed})
          UNION ALL (SELECT 'named', h.handle, ${shown} FROM spam_rules r
              CROSS JOIN LATERAL jsonb_array_elements_text(r.conditions -> 'avatarAccounts') h (handle)
              JOIN accounts a ON lower(a.username) = split_part(h.handle, '@', 1)
                AND lower(coalesce(a.domain, '')) = split_part(h.handle, '@', 2)
            WHERE r.state <> 'off' LIMIT ${namesMax.named})`)
        const known = new Map<string, Array<{ readonly kind: Lookalike; readonly id: bigint }>>()
        const pictures: Array<HashParts & Pick<(typeof rows)[number], "kind" | "handle" | "id">> = []
        for (const { avatarHash, displayName, handle, id, kind, username } of rows) {
          if (isUsableHash(avatarHash)) pictures.push({ ...splitHash(avatarHash), handle, kind, id })
          if (kind === "named") continue
          for (const look of new Set([skeleton(username), skeleton(displayName)])) {
            if (look.length < skeletonCharactersMin) continue
            const others = known.get(look)
            if (others === undefined) known.set(look, [{ kind, id }])
            else others.push({ kind, id })
          }
        }
        const named = ({ accountId, displayName, username }: AccountLooks) => [
          ...new Set(
            [skeleton(username), skeleton(displayName)].flatMap((look) => known.get(look) ?? [])
              .flatMap(({ id, kind }) => id === accountId ? [] : [kind])
          )
        ]
        return (account: AccountLooks): Resemblances => {
          const { accountId, avatarHash } = account
          const hashParts = isUsableHash(avatarHash) ? splitHash(avatarHash) : undefined
          const similar = hashParts === undefined
            ? []
            : pictures.filter((one) => one.id !== accountId && isSimilar(one, hashParts))
          return {
            lookAlike: named(account),
            avatarAlike: [...new Set(similar.flatMap(({ kind }) => kind === "named" ? [] : [kind]))],
            avatarAccounts: [...new Set(similar.flatMap(({ handle }) => handle ?? []))]
          }
        }
      })
      return ProtectedNames.of({
        current: yield* single({ kinds: ["roles", "spam_rules"], millisMax: keptMillisMax }, load)
      })
    })
  ).pipe(Layer.provide(Changes.layer))
}
