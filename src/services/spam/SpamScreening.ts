import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../Ids.ts"
import { traced } from "../Traced.ts"
import { ActiveSpamRules } from "./ActiveSpamRules.ts"
import { SpamFacts } from "./SpamFacts.ts"
import { clean, judge, type Verdict } from "./SpamMatching.ts"
import { decayed } from "./SpamScores.ts"
import { readPost } from "./SpamText.ts"

/** The most that an account's score comes to. */
const accountScoreMax = 1_000_000

/** A post that is about to be stored, or an edit of one. */
export interface ScreenedPost {
  readonly html: string
  readonly spoilerText: string
  readonly mentionIds: ReadonlyArray<bigint>
  /** Of the author; null for people of this server. */
  readonly domain: string | null
}

/** Has posts judged by the rules against spam, in the running transaction of their authors' actors. */
export class SpamScreening extends Context.Service<SpamScreening, {
  /** Costs a look at what is kept in memory where there are no rules, and no statement where none concerns the post. */
  readonly judge: (accountId: AccountId, post: ScreenedPost) => Effect.Effect<Verdict, SqlError>
  /** Writes down what was found; `statusId` is undefined where the post is not taken. */
  readonly record: (
    accountId: AccountId,
    verdict: Verdict,
    statusId: bigint | undefined
  ) => Effect.Effect<void, SqlError>
}>()("murmuration/services/spam/SpamScreening") {
  static readonly layer = Layer.effect(
    SpamScreening,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const active = yield* ActiveSpamRules
      const facts = yield* SpamFacts

      return SpamScreening.of({
        judge: traced("SpamScreening.judge")(function*(accountId, { domain, html, mentionIds, spoilerText }) {
          const rules = yield* active.current
          if (rules.length === 0) return clean
          const text = readPost(html, spoilerText)
          const post = { ...text, domain, mentions: mentionIds.length }
          const now = yield* Clock.currentTimeMillis
          const comparing = rules.filter(({ conditions }) => conditions.sameTextAccountsMin !== undefined)
          if (comparing.length > 0 && text.hash !== undefined) {
            yield* sql`INSERT INTO spam_texts (hash, account_id, seen_at)
              VALUES (${text.hash}, ${accountId}, ${new Date(now)})
              ON CONFLICT (hash, account_id) DO UPDATE SET seen_at = excluded.seen_at`
          }
          const concerned = rules.filter((rule) => rule.concerns(post))
          if (concerned.length === 0) return clean
          const asked = { accountId, at: now, mentionIds, hash: text.hash ?? null }
          const author = (yield* facts.of(
            [asked],
            concerned.some(({ conditions }) => conditions.lookAlike !== undefined)
          )).get(0)
          return author === undefined ? clean : judge(concerned, post, author)
        }),
        record: traced("SpamScreening.record")(function*(accountId, { hits, score }, statusId) {
          if (hits.length === 0) return
          const now = yield* Clock.currentTimeMillis
          const at = new Date(now)
          // A rule that was removed a moment ago has no hits.
          yield* sql`INSERT INTO spam_hits (id, rule_id, account_id, status_id, dry, created_at)
            SELECT next_id(${now}), r.id, ${accountId}, ${statusId ?? null}::bigint, h.dry, ${at}
            FROM unnest(${hits.map(({ id }) => id)}::bigint[], ${hits.map(({ state }) => state !== "on")}::boolean[])
              AS h (id, dry) JOIN spam_rules r ON r.id = h.id`
          if (score === 0) return
          yield* sql`INSERT INTO spam_scores AS k (account_id, domain, score, scored_at)
            SELECT id, domain, least(${score}::float8, ${accountScoreMax}), ${at} FROM accounts WHERE id = ${accountId}
            ON CONFLICT (account_id) DO UPDATE SET scored_at = excluded.scored_at, score = least(${accountScoreMax},
              excluded.score + k.score * ${sql.literal(decayed("k.scored_at", "excluded.scored_at"))})`
        })
      })
    })
  ).pipe(Layer.provide([ActiveSpamRules.layer, SpamFacts.layer]))
}
