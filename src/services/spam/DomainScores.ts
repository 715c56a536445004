import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { traced } from "../Traced.ts"
import { decayed, scoreTotalMax } from "./SpamScores.ts"

/** Changes that one folding takes up. */
const foldedMax = 10_000
/** Changes of a server that are not folded yet and that a post is judged by; a folding is a second away. */
const unfoldedMax = 1_000

/**
 * What rules against spam gave servers. A post adds a row of its own, so that posts of a busy server never wait for one another;
 * some node folds such rows into the server's score every second. Who reads counts those that wait.
 */
export class DomainScores extends Context.Service<DomainScores, {
  /** In the transaction of a post; people of this server have no domain. */
  readonly add: (domain: string, score: number, at: Date) => Effect.Effect<void, SqlError>
  /** In SQL: the score of a domain at a time, both expressions. */
  readonly at: (domain: string, at: string) => string
  /** Takes up what waits; any number of nodes may do it at once. */
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
        at: (domain, at) =>
          `(coalesce((SELECT d.score * ${
            decayed("d.scored_at", at)
          } FROM spam_domain_scores d WHERE d.domain = ${domain}), 0)
            + coalesce((SELECT sum(g.score * ${decayed("g.scored_at", at)}) FROM (SELECT * FROM spam_score_changes w
              WHERE w.domain = ${domain} LIMIT ${unfoldedMax}) g), 0))::float8`,
        // One statement: who judges a post meanwhile sees either all of it or nothing.
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
