import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Emails } from "../../../src/services/emails/Emails.ts"
import type { Email } from "../../../src/services/emails/Mailer.ts"
import { UnsubscribeLinks } from "../../../src/services/emails/UnsubscribeLinks.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { UserCatalogs } from "../../../src/services/instance/UserCatalogs.ts"
import { english } from "../../../src/services/languages/Catalogs.ts"
import { TrendReviewEmails } from "../../../src/services/trends/TrendReviewEmails.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { refreshTrends, remoteAccounts, taggedBy } from "../../support/Crowd.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Config = Layer.succeed(ServerConfig, configurationOf("here.test"))

/** Sends all pending e-mails; returns them. */
const sent = Effect.gen(function*() {
  const posted: Array<Email> = []
  const { send } = yield* Effect.provide(
    TrendReviewEmails,
    Layer.fresh(TrendReviewEmails.layerNoDeps).pipe(
      Layer.provide([
        Config,
        Layer.mock(UnsubscribeLinks, {
          make: (list, account) => `https://here.test/${list}/${account}`,
          read: () => undefined
        }),
        Layer.mock(UserCatalogs, { of: () => Effect.succeed(english) }),
        Layer.succeed(Emails, {
          enqueue: (email) => Effect.map(email, (one) => void (one === undefined || posted.push(one)))
        })
      ])
    )
  )
  yield* send
  return posted
})

layer(TestDatabase.layer, { excludeTestServices: true })("e-mails about trends", (it) => {
  it.effect("S-114: staff are notified once of each unreviewed hashtag that starts to trend, every six hours at most", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date()
      for (const [id, role] of [[1, 2], [2, 1], [3, -99]] as const) {
        yield* sql`INSERT INTO accounts (id, username, created_at, updated_at) VALUES (${id}, ${`one${id}`}, ${now}, ${now})`
        yield* sql`INSERT INTO users (account_id, email, password_hash, role_id, confirmed_at, created_at)
          VALUES (${id}, ${`one${id}@mail.test`}, '', ${role}, ${now}, ${now})`
      }
      const many = yield* remoteAccounts("mail.test", 9)
      const trend = Effect.fnUntraced(function*(name: string, columns: Record<string, unknown> = {}) {
        const tag = { id: BigInt(name.length * 1000 + name.charCodeAt(0)), name, display_name: name, created_at: now }
        yield* sql`INSERT INTO tags ${sql.insert({ ...tag, ...columns })}`
        yield* sql`INSERT INTO tag_trends (tag_id, score, max_score, max_score_at) VALUES (${tag.id}, 1, 1, ${now})`
        yield* taggedBy(name, many)
        yield* refreshTrends
      })
      assert.deepStrictEqual(yield* sent, [])
      yield* trend("first")
      yield* trend("allowed", { trendable: true, reviewed_at: now })
      yield* trend("refused", { trendable: false, reviewed_at: now })
      const letters = yield* sent
      // Only an administrator and a moderator with that permission.
      const { rows } = yield* Effect.map(
        sql<{ readonly id: bigint }>`SELECT account_id AS id FROM users u JOIN roles r ON r.id = u.role_id
          WHERE (r.permissions & 257) <> 0 ORDER BY 1`,
        (rows) => ({ rows })
      )
      assert.deepStrictEqual(letters.map(({ to }) => to), rows.map(({ id }) => `one${id}@mail.test`))
      assert.isAbove(rows.length, 0)
      assert.include(letters[0]?.text, "#first")
      assert.match(letters[0]?.text ?? "", /^Decide here: http.*\/admin\/trends$/m)
      assert.notInclude(letters[0]?.text, "#allowed")
      assert.notInclude(letters[0]?.text, "#refused")
      yield* trend("second")
      assert.deepStrictEqual(yield* sent, [])
      yield* sql`UPDATE chores SET begun_at = begun_at - interval '6 hours' WHERE name = 'e-mails about trends'`
      yield* sql`UPDATE tags SET requested_review_at = requested_review_at - interval '7 hours' WHERE name = 'first'`
      const more = yield* sent
      assert.include(more[0]?.text, "#second")
      assert.notInclude(more[0]?.text, "#first")
      yield* refreshTrends
      yield* sql`UPDATE chores SET begun_at = begun_at - interval '6 hours' WHERE name = 'e-mails about trends'`
      yield* sql`UPDATE tags SET requested_review_at = requested_review_at - interval '7 hours'`
      assert.deepStrictEqual(yield* sent, [])
    }))
})
