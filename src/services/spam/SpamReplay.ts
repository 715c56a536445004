import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { idAt } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isPublicOrUnlisted, Visibility } from "../statuses/Visibility.ts"
import { textColumns, textsOf, WrittenTexts } from "../statuses/Written.ts"
import { mapWithYields } from "../text/Turns.ts"
import { replayedFigures } from "./ReplayedFigures.ts"
import { sameTextMillis, SpamFacts } from "./SpamFacts.ts"
import { type CompiledRule, compileRule, concerned, isAboutBoosts, judge } from "./SpamMatching.ts"
import { rulesMax, SpamRule } from "./SpamRule.ts"
import { type RuleResult, runDaysMax } from "./SpamRuns.ts"
import { readPost } from "./SpamText.ts"

/** Maximum posts per slice and per run; a run with more covers the newest. */
const sliceMax = 500
const statusesMax = 500_000
/** Maximum samples per rule, and maximum distinct accounts. */
const samplesMax = 40
const accountsMax = 100_000
/** Maximum rows that a sweep deletes per table. */
const sweptMax = 10_000
/** Lease of a run after its last slice, in milliseconds, and maximum attempts. */
const claimMillis = 60_000
const triesMax = 3

const ruleRows = rowsOf(SpamRule)
const claimRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    days: Schema.Int,
    tries: Schema.Int,
    createdAt: Timestamptz,
    /** End of the lease. */
    dueAt: Timestamptz
  })
)
const startRows = rowsOf(Schema.Struct({ start: Schema.NullOr(Schema.BigInt) }))
const statusRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  domain: Schema.NullOr(Schema.String),
  html: Schema.String,
  ...WrittenTexts.fields,
  visibility: Visibility,
  createdAt: Timestamptz,
  boosted: Schema.NullOr(Schema.BigInt),
  mentionIds: Schema.Array(Schema.BigInt)
}))

interface Tally {
  readonly rule: CompiledRule
  statuses: number
  readonly accounts: Set<bigint>
  readonly samples: Array<bigint>
}

const resultOf = ({ accounts, rule, samples, statuses }: Tally): RuleResult => ({
  ruleId: rule.id,
  name: rule.name,
  statuses,
  accounts: accounts.size,
  samples
})

/**
 * Executes pending dry runs. Rules that are on act as in production, others as dry, so that each rule shows its matches
 * in the real chain. Facts about authors are those of the time, if rows show them (`SpamFacts`,
 * `ReplayedFigures`). Pictures and names are current, as old ones are not stored.
 */
export class SpamReplay extends Context.Service<SpamReplay, {
  /**
   * Executes one pending run. If the node dies, another node restarts it; a node whose lease was taken over writes
   * nothing.
   */
  readonly step: Effect.Effect<void, SqlError>
  /** Deletes old hits and texts. Runs every minute, as a busy server writes many. */
  readonly sweep: Effect.Effect<void, SqlError>
}>()("murmuration/services/spam/SpamReplay") {
  static readonly layerNoDeps = Layer.effect(
    SpamReplay,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const facts = yield* SpamFacts

      /** Condition: the run still belongs to the lease that ends at `dueAt`. */
      const owned = (id: bigint, dueAt: Date) => sql`id = ${id} AND state = 'waiting' AND due_at = ${dueAt}`

      const claim = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const [run] = yield* claimRows(
          sql`UPDATE spam_runs SET due_at = ${new Date(now + claimMillis)}, tries = tries + 1,
            statuses = 0
          WHERE id = (SELECT id FROM spam_runs WHERE state = 'waiting' AND due_at <= ${new Date(
            now
          )} ORDER BY id LIMIT 1
            FOR UPDATE SKIP LOCKED) RETURNING id, days, tries, created_at, due_at`
        )
        return run
      })

      /** Includes boosts if a rule is about boosts; they have the text of the boosted post. */
      const isReplayed = (boosts: boolean) =>
        boosts ? sql`s.deleted_at IS NULL` : sql`s.deleted_at IS NULL AND s.reblog_of_id IS NULL`
      const slice = (after: bigint, before: bigint, boosts: boolean) =>
        statusRows(sql`SELECT s.id, s.account_id, a.domain, coalesce(o.html, s.html) AS html,
            ${
          sql.csv(textColumns.map((name) => `coalesce(o.${name}, s.${name}) AS ${name}`))
        }, s.visibility, s.created_at, s.reblog_of_id AS boosted,
            ARRAY(SELECT account_id FROM mentions m WHERE m.status_id = s.id) AS mention_ids
          FROM statuses s JOIN accounts a ON a.id = s.account_id LEFT JOIN statuses o ON o.id = s.reblog_of_id
          WHERE s.id > ${after} AND s.id < ${before} AND ${isReplayed(boosts)}
          ORDER BY s.id LIMIT ${sliceMax}`)

      const run = Effect.fnUntraced(function*(claimed: {
        readonly id: bigint
        readonly days: number
        readonly createdAt: Date
        readonly dueAt: Date
      }) {
        const until = claimed.createdAt.getTime()
        const rules = (yield* ruleRows(sql`SELECT * FROM spam_rules ORDER BY place, id LIMIT ${rulesMax}`)).map(
          compileRule
        )
        const tallies = new Map<bigint, Tally>(
          rules.map((rule) => [rule.id, { rule, statuses: 0, accounts: new Set(), samples: [] }])
        )
        const names = rules.some(({ conditions: { avatarAccounts, avatarAlike, lookAlike } }) =>
          lookAlike !== undefined || avatarAlike !== undefined || avatarAccounts !== undefined
        )
        const boosts = rules.some(({ conditions }) => isAboutBoosts(conditions))
        const past = {
          followers: rules.some(({ conditions }) => conditions.followersMax !== undefined),
          statuses: rules.some(({ conditions }) => conditions.statusesMax !== undefined)
        }
        const figures = replayedFigures()
        const before = idAt(until)
        const first = idAt(until - claimed.days * 86_400_000)
        const [newest] = yield* startRows(sql`SELECT (SELECT id FROM statuses s WHERE id > ${first} AND id < ${before}
          AND ${isReplayed(boosts)} ORDER BY id DESC OFFSET ${statusesMax} LIMIT 1) AS start`)
        let after = newest?.start ?? first
        let looked = 0
        let leaseEnd = claimed.dueAt
        while (true) {
          const statuses = yield* slice(after, before, boosts)
          const posts = yield* mapWithYields(statuses, ({ html }) => html, (one) => ({
            ...one,
            post: {
              ...readPost(one.html, textsOf(one)),
              domain: one.domain,
              mentions: one.mentionIds.length,
              boost: one.boosted !== null
            }
          }))
          const authors = yield* facts.of(
            posts.map(({ accountId, boosted, createdAt, mentionIds }) => ({
              accountId,
              boosted,
              at: createdAt.getTime(),
              mentionIds,
              hash: null
            })),
            { names, past }
          )
          for (const [place, { accountId, createdAt, domain, id, post, visibility }] of posts.entries()) {
            yield* concerned(rules, post)
            const author = authors.get(place)
            const at = createdAt.getTime()
            const sameTextAccounts = post.boost ? 0 : figures.sameText(post.hash, accountId, at)
            if (author === undefined) continue
            const scored = figures.scoresOf(accountId, domain, at)
            const { hits, score } = judge(rules, post, { ...author, ...scored, sameTextAccounts })
            figures.give(accountId, domain, score, at)
            for (const { id: ruleId } of hits) {
              const tally = tallies.get(ruleId)
              if (tally === undefined) continue
              tally.statuses++
              if (tally.accounts.size < accountsMax) tally.accounts.add(accountId)
              if (tally.samples.length < samplesMax && isPublicOrUnlisted(visibility)) tally.samples.push(id)
            }
          }
          looked += statuses.length
          const last = statuses.at(-1)
          const done = last === undefined || statuses.length < sliceMax
          const now = yield* Clock.currentTimeMillis
          const results = JSON.stringify(
            [...tallies.values()].map(resultOf),
            (_, value: unknown) => typeof value === "bigint" ? String(value) : value
          )
          const renewed = new Date(now + claimMillis)
          const written = yield* sql`UPDATE spam_runs SET statuses = ${looked}, results = ${results}::jsonb,
            state = ${done ? "done" : "waiting"}, finished_at = ${done ? new Date(now) : null},
            due_at = ${renewed} WHERE ${owned(claimed.id, leaseEnd)} RETURNING id`
          if (last === undefined || done || written.length === 0) return
          leaseEnd = renewed
          after = last.id
          // Lets other fibers run.
          yield* Effect.yieldNow
        }
      })

      const deleteOlder = (table: string, column: string, before: number) =>
        sql`DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${sql(table)} WHERE ${sql(column)} < ${new Date(before)} LIMIT ${sweptMax}))`

      return SpamReplay.of({
        sweep: Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.andThen(
            deleteOlder("spam_hits", "created_at", now - runDaysMax * 86_400_000),
            deleteOlder("spam_texts", "seen_at", now - 2 * sameTextMillis)
          )).pipe(Effect.asVoid, Effect.withSpan("SpamReplay.sweep")),
        step: traced("SpamReplay.step")(function*() {
          const claimed = yield* claim
          if (claimed === undefined) return
          if (claimed.tries <= triesMax) return yield* run(claimed)
          yield* sql`UPDATE spam_runs SET state = 'failed', finished_at = ${new Date(yield* Clock.currentTimeMillis)}
            WHERE ${owned(claimed.id, claimed.dueAt)}`
        })()
      })
    })
  )
  static readonly layer = SpamReplay.layerNoDeps.pipe(Layer.provide(SpamFacts.layer))
}
