import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../Ids.ts"
import { rowsOf } from "../Rows.ts"
import { textColumns, textsOf, WrittenTexts } from "../statuses/Written.ts"
import { traced } from "../Traced.ts"
import { ActiveSpamRules } from "./ActiveSpamRules.ts"
import { DomainScores } from "./DomainScores.ts"
import { SpamFacts } from "./SpamFacts.ts"
import { clean, concerned, isAboutBoosts, judge, type PostFacts, type ReadyRule, type Verdict } from "./SpamMatching.ts"
import { decayed, scoreTotalMax } from "./SpamScores.ts"
import { type PostText, readPost } from "./SpamText.ts"

/** A post that is about to be stored, or an edit of one. */
export interface ScreenedPost extends WrittenTexts {
  readonly html: string
  readonly mentionIds: ReadonlyArray<bigint>
  /** Of the author; null for people of this server. */
  readonly domain: string | null
}

/** A boost that is about to be stored. */
export interface ScreenedBoost {
  readonly statusId: bigint
  /** Of who boosts; null for people of this server. */
  readonly domain: string | null
}

const domainRows = rowsOf(Schema.Struct({ domain: Schema.NullOr(Schema.String) }))
const textRows = rowsOf(Schema.Struct({ html: Schema.String, ...WrittenTexts.fields }))

/** Has posts judged by the rules against spam, in the running transaction of their authors' actors. */
export class SpamScreening extends Context.Service<SpamScreening, {
  /** Costs a look at what is kept in memory where there are no rules, and no statement where none concerns the post. */
  readonly judge: (accountId: AccountId, post: ScreenedPost) => Effect.Effect<Verdict, SqlError>
  /** The same of a boost, for which rules are asked that are about boosts; what they say of texts is of the boosted post. */
  readonly judgeBoost: (accountId: AccountId, boost: ScreenedBoost) => Effect.Effect<Verdict, SqlError>
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
      const domainScores = yield* DomainScores
      const facts = yield* SpamFacts

      const verdictOf = Effect.fnUntraced(function*(
        accountId: AccountId,
        rules: ReadonlyArray<ReadyRule>,
        post: PostFacts,
        asked: { readonly at: number; readonly mentionIds: ReadonlyArray<bigint>; readonly boosted: bigint | null }
      ) {
        const found = yield* concerned(rules, post)
        if (found.length === 0) return clean
        const names = found.some(({ conditions: { avatarAccounts, avatarAlike, lookAlike } }) =>
          lookAlike !== undefined || avatarAlike !== undefined || avatarAccounts !== undefined
        )
        const authors = yield* facts.of([{ ...asked, accountId, hash: post.hash ?? null }], { names })
        const author = authors.get(0)
        return author === undefined ? clean : judge(found, post, author)
      })

      return SpamScreening.of({
        judge: traced("SpamScreening.judge")(function*(accountId, screened) {
          const rules = (yield* active.current).filter(({ conditions }) => !isAboutBoosts(conditions))
          if (rules.length === 0) return clean
          const { domain, html, mentionIds } = screened
          const text: PostText = readPost(html, textsOf(screened))
          const post = { ...text, domain, mentions: mentionIds.length, boost: false }
          const now = yield* Clock.currentTimeMillis
          const comparing = rules.filter(({ conditions }) => conditions.sameTextAccountsMin !== undefined)
          if (comparing.length > 0 && text.hash !== undefined) {
            yield* sql`INSERT INTO spam_texts (hash, account_id, seen_at)
              VALUES (${text.hash}, ${accountId}, ${new Date(now)})
              ON CONFLICT (hash, account_id) DO UPDATE SET seen_at = excluded.seen_at`
          }
          return yield* verdictOf(accountId, rules, post, { at: now, mentionIds, boosted: null })
        }),
        judgeBoost: traced("SpamScreening.judgeBoost")(function*(accountId, { domain, statusId }) {
          const rules = (yield* active.current).filter(({ conditions }) => isAboutBoosts(conditions))
          if (rules.length === 0) return clean
          const [boosted] = yield* textRows(
            sql`SELECT html, ${sql.csv(textColumns)} FROM statuses WHERE id = ${statusId}`
          )
          if (boosted === undefined) return clean
          const post = { ...readPost(boosted.html, textsOf(boosted)), domain, mentions: 0, boost: true }
          const at = yield* Clock.currentTimeMillis
          return yield* verdictOf(accountId, rules, post, { at, mentionIds: [], boosted: statusId })
        }),
        record: traced("SpamScreening.record")(function*(accountId, { hits, score }, statusId) {
          if (hits.length === 0) return
          const now = yield* Clock.currentTimeMillis
          const at = new Date(now)
          // A rule that was removed a moment ago has no hits.
          yield* sql`INSERT INTO spam_hits (id, rule_id, account_id, status_id, dry, created_at)
            SELECT next_id(${now}), r.id, ${accountId}, ${statusId ?? null}::bigint, h.dry, ${at}
            FROM unnest(${hits.map(({ id }) => id)}::bigint[], ${hits.map(({ state }) => state !== "on")}::boolean[])
              AS h (id, dry) JOIN spam_rules r ON r.id = h.id FOR KEY SHARE OF r`
          if (score === 0) return
          const [scored] = yield* domainRows(sql`INSERT INTO spam_scores AS k (account_id, domain, score, scored_at)
            SELECT id, domain, least(${score}::float8, ${scoreTotalMax}), ${at} FROM accounts WHERE id = ${accountId}
            ON CONFLICT (account_id) DO UPDATE SET scored_at = excluded.scored_at, score = least(${scoreTotalMax},
              excluded.score + k.score * ${
            sql.literal(decayed("k.scored_at", "excluded.scored_at"))
          }) RETURNING domain`)
          const domain = scored?.domain ?? null
          if (domain !== null) yield* domainScores.add(domain, score, at)
        })
      })
    })
  ).pipe(Layer.provide([ActiveSpamRules.layer, DomainScores.layer, SpamFacts.layer]))
}
