import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId, idAt } from "../Ids.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { staffBits } from "../staff/Permissions.ts"
import { traced } from "../Traced.ts"
import { ProtectedNames } from "./ProtectedNames.ts"
import type { AuthorFacts } from "./SpamMatching.ts"
import { decayed } from "./SpamScores.ts"

const hourMillis = 3_600_000
/** How far back the same text is looked for, in milliseconds. */
export const sameTextMillis = 24 * hourMillis
/** Rows that one figure is counted from at most. */
const countedMax = 1_000
/** Accounts of a server whose scores make the server's. */
const scoredAccountsMax = 10_000

/** A post of which the author is asked for; `at` is when it is written, in milliseconds since 1970. */
interface AskedPost {
  readonly accountId: bigint
  readonly at: number
  readonly mentionIds: ReadonlyArray<bigint>
  /** Of its text; null where nobody else is asked for. */
  readonly hash: bigint | null
}

const FactRow = Schema.Struct({
  place: Schema.Int,
  accountId: AccountId,
  username: Schema.String,
  displayName: Schema.String,
  createdAt: Timestamptz,
  exempt: Schema.Boolean,
  statuses: Schema.Int,
  followers: Schema.Int,
  hourlyPosts: Schema.Int,
  strangers: Schema.Int,
  sameText: Schema.Int,
  score: Schema.Number,
  domainScore: Schema.Number
})
const factRows = rowsOf(FactRow)

/** What rules against spam ask of the authors of posts; one statement for however many. */
export class SpamFacts extends Context.Service<SpamFacts, {
  /** By the index of the post; of an account that is gone there is nothing. Names are looked at where `names` says so. */
  readonly of: (
    posts: ReadonlyArray<AskedPost>,
    names: boolean
  ) => Effect.Effect<ReadonlyMap<number, AuthorFacts>, SqlError>
}>()("murmuration/services/spam/SpamFacts") {
  static readonly layer = Layer.effect(
    SpamFacts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const protectedNames = yield* ProtectedNames

      const score = sql.literal(decayed("k.scored_at", "p.at"))

      return SpamFacts.of({
        of: traced("SpamFacts.of")(function*(posts, names) {
          if (posts.length === 0) return new Map<number, AuthorFacts>()
          const asked = posts.map(({ accountId, at, hash, mentionIds }, place) => ({
            place,
            account: String(accountId),
            at: new Date(at).toISOString(),
            since: String(idAt(at - hourMillis)),
            until: String(idAt(at)),
            mentions: mentionIds.map(String),
            hash: hash === null ? null : String(hash)
          }))
          const rows = yield* factRows(sql`
            SELECT p.place, a.id AS account_id, a.username, a.display_name, a.created_at,
              EXISTS (SELECT FROM users u JOIN roles r ON r.id = u.role_id
                WHERE u.account_id = a.id AND r.permissions & ${staffBits}::bigint <> 0) AS exempt,
              coalesce(c.statuses_count, 0) AS statuses, coalesce(c.followers_count, 0) AS followers,
              (SELECT count(*)::int FROM (SELECT FROM statuses s WHERE s.account_id = a.id AND s.deleted_at IS NULL
                AND s.id >= p.since AND s.id < p.until LIMIT ${countedMax}) written) AS hourly_posts,
              (SELECT count(*)::int FROM unnest(p.mentions) m WHERE m <> a.id AND NOT EXISTS (
                SELECT FROM follows f WHERE f.account_id = m AND f.target_account_id = a.id)) AS strangers,
              (SELECT count(*)::int FROM (SELECT FROM spam_texts t WHERE t.hash = p.hash AND t.account_id <> a.id
                AND t.seen_at > p.at - interval '1 millisecond' * ${sameTextMillis} LIMIT ${countedMax}) said) AS same_text,
              coalesce((SELECT k.score * ${score} FROM spam_scores k WHERE k.account_id = a.id), 0) AS score,
              coalesce((SELECT sum(k.score * ${score}) FROM (SELECT * FROM spam_scores o WHERE o.domain = a.domain
                ORDER BY o.scored_at DESC LIMIT ${scoredAccountsMax}) k), 0) AS domain_score
            FROM jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) AS p (place int, account bigint, at timestamptz,
              since bigint, until bigint, mentions bigint[], hash bigint)
            JOIN accounts a ON a.id = p.account LEFT JOIN account_stats c ON c.account_id = a.id`)
          const alike = names ? yield* protectedNames.current : undefined
          return new Map(rows.map(({ createdAt, place, sameText, ...row }) => [place, {
            ...row,
            accountHours: ((posts[place]?.at ?? 0) - createdAt.getTime()) / hourMillis,
            sameTextAccounts: sameText,
            lookAlike: alike?.(row) ?? []
          }]))
        })
      })
    })
  ).pipe(Layer.provide(ProtectedNames.layer))
}
