import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { traced } from "../runtime/Traced.ts"
import { decayed, scoreTotalMax } from "./SpamScores.ts"

/** Maximum changes per fold. */
const foldedMax = 10_000
/** Maximum changes of a server that a check adds to its score before they are folded, which happens every second. */
const unfoldedMax = 1_000

/**
 * Spam scores of remote servers. Each post adds its own row, so that posts of a busy server do not wait for each other.
 * Every second a node folds the rows into the server's score. Readers add the rows that are not folded yet.
 */
export class DomainScores extends Context.Service<DomainScores, {
  /** Adds to a remote server's score, in the transaction of a post. */
  readonly add: (domain: string, score: number, at: Date) => Effect.Effect<void, SqlError>
  /** SQL expression for the score of a domain at a time; both arguments are SQL expressions. */
  readonly scoreSql: (domain: string, at: string) => string
  /** Folds pending changes; nodes may run it concurrently. */
  readonly fold: Effect.Effect<void, SqlError>
}>()("murmuration/services/spam/DomainScores") {
  static readonly layer = Layer.effect(
    DomainScores,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return DomainScores.of({
        add: traced("DomainScores.add")((domain, score, at) =>
          Effect.asVoid(
            sql`INSERT INTO spam_score_changes (domain, score, scored_at) VALUES (${domain}, ${score}, ${at})`
          )
        ),
        scoreSql: (domain, at) =>
          `(coalesce((SELECT d.score * ${
            decayed("d.scored_at", at)
          } FROM spam_domain_scores d WHERE d.domain = ${domain}), 0)
            + coalesce((SELECT sum(g.score * ${decayed("g.scored_at", at)}) FROM (SELECT * FROM spam_score_changes w
              WHERE w.domain = ${domain} LIMIT ${unfoldedMax}) g), 0))::float8`,
        // One statement, so that a concurrent check counts each change exactly once.
        fold: Effect.asVoid(sql`
          WITH taken AS (DELETE FROM spam_score_changes WHERE id IN (
              SELECT id FROM spam_score_changes ORDER BY id LIMIT ${foldedMax} FOR UPDATE SKIP LOCKED)
            RETURNING domain, score, scored_at),
          newest AS (SELECT domain, max(scored_at) AS at FROM taken GROUP BY domain)
          INSERT INTO spam_domain_scores AS k (domain, score, scored_at)
          SELECT t.domain, sum(t.score * ${sql.literal(decayed("t.scored_at", "n.at"))}), n.at
          FROM taken t JOIN newest n ON n.domain = t.domain GROUP BY t.domain, n.at ORDER BY t.domain
          ON CONFLICT (domain) DO UPDATE SET scored_at = greatest(k.scored_at, excluded.scored_at),
            score = least(${scoreTotalMax},
              excluded.score * ${
          sql.literal(decayed("excluded.scored_at", "greatest(k.scored_at, excluded.scored_at)"))
        }
              + k.score * ${sql.literal(decayed("k.scored_at", "greatest(k.scored_at, excluded.scored_at)"))})`).pipe(
          Effect.withSpan("DomainScores.fold")
        )
      })
    })
  )
}
