import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { AccountId, idAt } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { staffBits } from "../staff/Permissions.ts"
import { DomainScores } from "./DomainScores.ts"
import { ProtectedNames, type Resemblances } from "./ProtectedNames.ts"
import type { AuthorFacts } from "./SpamMatching.ts"
import { decayed } from "./SpamScores.ts"

const hourMillis = 3_600_000
/** Time span in which equal texts are counted, in milliseconds. */
export const sameTextMillis = 24 * hourMillis
/** Maximum rows counted for a figure. */
const countedMax = 1_000

/** A post whose author is looked up; `at` is its creation, in milliseconds since 1970. */
interface PostLookup {
  readonly accountId: bigint
  readonly at: number
  readonly mentionIds: ReadonlyArray<bigint>
  /** Hash of the text; null if equal texts are not counted. */
  readonly hash: bigint | null
  /** Id of the boosted post; null for a post. */
  readonly boosted: bigint | null
}

/** Further facts to look up. */
interface Lookups {
  /** True if any rule compares names or pictures. */
  readonly names: boolean
  /**
   * Set for past posts: subtracts later followers and posts, each if requested. Lost followers and deleted
   * posts are unknown.
   */
  readonly past?: { readonly followers: boolean; readonly statuses: boolean }
}

const FactRow = Schema.Struct({
  place: Schema.Int,
  accountId: AccountId,
  username: Schema.String,
  displayName: Schema.String,
  avatarHash: Schema.NullOr(Schema.BigInt),
  createdAt: Timestamptz,
  exempt: Schema.Boolean,
  statuses: Schema.Int,
  followers: Schema.Int,
  hourlyPosts: Schema.Int,
  strangers: Schema.Int,
  sameText: Schema.Int,
  hourlyBoosts: Schema.Int,
  sameBoosts: Schema.Int,
  score: Schema.Number,
  domainScore: Schema.Number
})
const factRows = rowsOf(FactRow)

/** Facts about authors of posts for spam rules, in one statement for all posts. */
export class SpamFacts extends Context.Service<SpamFacts, {
  /** Returns the facts by index of the post; deleted accounts are left out. */
  readonly of: (
    posts: ReadonlyArray<PostLookup>,
    asked: Lookups
  ) => Effect.Effect<ReadonlyMap<number, AuthorFacts>, SqlError>
}>()("murmuration/services/spam/SpamFacts") {
  static readonly layer = Layer.effect(
    SpamFacts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const domainScores = yield* DomainScores
      const protectedNames = yield* ProtectedNames

      const score = sql.literal(decayed("k.scored_at", "p.at"))

      return SpamFacts.of({
        of: traced("SpamFacts.of")(function*(posts, { names, past }) {
          if (posts.length === 0) return new Map<number, AuthorFacts>()
          const asked = posts.map(({ accountId, at, boosted, hash, mentionIds }, place) => ({
            place,
            account: String(accountId),
            at: new Date(at).toISOString(),
            since: String(idAt(at - hourMillis)),
            day: String(idAt(at - sameTextMillis)),
            until: String(idAt(at)),
            boosted: boosted === null ? null : String(boosted),
            mentions: mentionIds.map(String),
            hash: hash === null ? null : String(hash)
          }))
          /** Counts the rows of a table that are newer than the post. */
          const since = (asked: boolean | undefined, rows: Fragment) =>
            asked === true ? sql`(SELECT count(*)::int FROM (SELECT FROM ${rows} LIMIT ${countedMax}) later)` : sql`0`
          const followed = past !== undefined ? sql`AND f.id < p.until` : sql``
          const rows = yield* factRows(sql`
            SELECT p.place, a.id AS account_id, a.username, a.display_name, a.avatar_hash, a.created_at,
              EXISTS (SELECT FROM users u JOIN roles r ON r.id = u.role_id
                WHERE u.account_id = a.id AND r.permissions & ${staffBits}::bigint <> 0) AS exempt,
              greatest(0, coalesce(c.statuses_count, 0) - ${
            since(
              past?.statuses,
              sql`statuses s WHERE s.account_id = a.id AND s.deleted_at IS NULL AND s.id >= p.until`
            )
          })::int AS statuses,
              greatest(0, coalesce(c.followers_count, 0) - ${
            since(past?.followers, sql`follows f WHERE f.target_account_id = a.id AND f.id >= p.until`)
          })::int AS followers,
              (SELECT count(*)::int FROM (SELECT FROM statuses s WHERE s.account_id = a.id AND s.deleted_at IS NULL
                AND s.id >= p.since AND s.id < p.until LIMIT ${countedMax}) written) AS hourly_posts,
              (SELECT count(*)::int FROM unnest(p.mentions) m WHERE m <> a.id AND NOT EXISTS (
                SELECT FROM follows f WHERE f.account_id = m AND f.target_account_id = a.id ${followed})) AS strangers,
              (SELECT count(*)::int FROM (SELECT FROM spam_texts t WHERE t.hash = p.hash AND t.account_id <> a.id
                AND t.seen_at > p.at - interval '1 millisecond' * ${sameTextMillis} LIMIT ${countedMax}) said) AS same_text,
              CASE WHEN p.boosted IS NULL THEN 0 ELSE (SELECT count(*)::int FROM (SELECT FROM statuses s
                WHERE s.account_id = a.id AND s.deleted_at IS NULL AND s.reblog_of_id IS NOT NULL
                  AND s.id >= p.since AND s.id < p.until LIMIT ${countedMax}) boosts) END AS hourly_boosts,
              (SELECT count(*)::int FROM (SELECT FROM statuses s WHERE s.reblog_of_id = p.boosted AND s.deleted_at IS NULL
                AND s.account_id <> a.id AND s.id >= p.day AND s.id < p.until LIMIT ${countedMax}) same) AS same_boosts,
              coalesce((SELECT k.score * ${score} FROM spam_scores k WHERE k.account_id = a.id), 0) AS score,
              ${sql.literal(domainScores.scoreSql("a.domain", "p.at"))} AS domain_score
            FROM jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) AS p (place int, account bigint, at timestamptz,
              since bigint, day bigint, until bigint, boosted bigint, mentions bigint[], hash bigint)
            JOIN accounts a ON a.id = p.account LEFT JOIN account_stats c ON c.account_id = a.id`)
          const resemblances = names ? yield* protectedNames.current : undefined
          return new Map(rows.map(({ createdAt, place, sameBoosts, sameText, ...row }) => [place, {
            ...row,
            ...(resemblances?.(row) ?? nobody),
            sameBoostAccounts: sameBoosts,
            accountHours: ((posts[place]?.at ?? 0) - createdAt.getTime()) / hourMillis,
            sameTextAccounts: sameText
          }]))
        })
      })
    })
  ).pipe(Layer.provide([DomainScores.layer, ProtectedNames.layer]))
}

const nobody: Resemblances = { lookAlike: [], avatarAlike: [], avatarAccounts: [] }
