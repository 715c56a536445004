import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { textColumns, textsOf, WrittenTexts } from "../statuses/Written.ts"
import { ActiveSpamRules } from "./ActiveSpamRules.ts"
import { DomainScores } from "./DomainScores.ts"
import { SpamFacts } from "./SpamFacts.ts"
import {
  type CompiledRule,
  concerned,
  isAboutBoosts,
  judge,
  noVerdict,
  type PostFacts,
  type Verdict
} from "./SpamMatching.ts"
import { decayed, scoreTotalMax } from "./SpamScores.ts"
import { type PostText, readPost } from "./SpamText.ts"

/** A new post or an edit, before it is stored. */
export interface ScreenedPost extends WrittenTexts {
  readonly html: string
  readonly mentionIds: ReadonlyArray<bigint>
  /** Domain of the author; null for local accounts. */
  readonly domain: string | null
}

/** A boost, before it is stored. */
export interface ScreenedBoost {
  readonly statusId: bigint
  /** Domain of the booster; null for local accounts. */
  readonly domain: string | null
}

const domainRows = rowsOf(Schema.Struct({ domain: Schema.NullOr(Schema.String) }))
const textRows = rowsOf(Schema.Struct({ html: Schema.String, ...WrittenTexts.fields }))

/** Applies the spam rules to posts, in the current transaction of the author's actor. */
export class SpamScreening extends Context.Service<SpamScreening, {
  /** Judges a post. Without rules costs a memory lookup, and without a matching rule no statement. */
  readonly judge: (accountId: AccountId, post: ScreenedPost) => Effect.Effect<Verdict, SqlError>
  /** Judges a boost by the rules about boosts; their conditions on texts apply to the boosted post. */
  readonly judgeBoost: (accountId: AccountId, boost: ScreenedBoost) => Effect.Effect<Verdict, SqlError>
  /** Stores hits and scores; `statusId` is undefined if the post was dropped. */
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
        rules: ReadonlyArray<CompiledRule>,
        post: PostFacts,
        asked: { readonly at: number; readonly mentionIds: ReadonlyArray<bigint>; readonly boosted: bigint | null }
      ) {
        const found = yield* concerned(rules, post)
        if (found.length === 0) return noVerdict
        const names = found.some(({ conditions: { avatarAccounts, avatarAlike, lookAlike } }) =>
          lookAlike !== undefined || avatarAlike !== undefined || avatarAccounts !== undefined
        )
        const authors = yield* facts.of([{ ...asked, accountId, hash: post.hash ?? null }], { names })
        const author = authors.get(0)
        return author === undefined ? noVerdict : judge(found, post, author)
      })

      return SpamScreening.of({
        judge: traced("SpamScreening.judge")(function*(accountId, screened) {
          const rules = (yield* active.current).filter(({ conditions }) => !isAboutBoosts(conditions))
          if (rules.length === 0) return noVerdict
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
          if (rules.length === 0) return noVerdict
          const [boosted] = yield* textRows(
            sql`SELECT html, ${sql.csv(textColumns)} FROM statuses WHERE id = ${statusId}`
          )
          if (boosted === undefined) return noVerdict
          const post = { ...readPost(boosted.html, textsOf(boosted)), domain, mentions: 0, boost: true }
          const at = yield* Clock.currentTimeMillis
          return yield* verdictOf(accountId, rules, post, { at, mentionIds: [], boosted: statusId })
        }),
        record: traced("SpamScreening.record")(function*(accountId, { hits, score }, statusId) {
          if (hits.length === 0) return
          const now = yield* Clock.currentTimeMillis
          const at = new Date(now)
          // A rule that was deleted in the meantime gets no hits.
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
