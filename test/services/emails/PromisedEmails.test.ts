import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import * as EmailRunner from "../../../src/actors/agenda/EmailRunner.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { type Email, EmailNotSent, Mailer } from "../../../src/services/emails/Mailer.ts"
import { PromisedEmails, promisesMax } from "../../../src/services/emails/PromisedEmails.ts"
import { Approvals } from "../../../src/services/identity/Approvals.ts"
import { user } from "../../support/SignedIn.ts"
import { services } from "../../support/WebServer.ts"

const Live = Layer.mergeAll(Approvals.layer, PromisedEmails.layer).pipe(Layer.provideMerge(services))

/** Runs a process that sends e-mails with `send` until `until` completes, then kills it. */
const process = <A, E, R>(send: Mailer["Service"]["send"], until: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.andThen(
    Layer.build(Layer.fresh(EmailRunner.layer).pipe(Layer.provide(Layer.succeed(Mailer, { send })))),
    until
  ))

layer(Live, { excludeTestServices: true })("promised e-mails", (it) => {
  const waiting = Effect.fnUntraced(function*(name: string) {
    const sql = yield* SqlClient.SqlClient
    const accountId = AccountId.make(yield* user(name))
    yield* sql`UPDATE users SET approved = false WHERE account_id = ${accountId}`
    return accountId
  })
  const left = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT kind FROM promised_emails`)

  it.effect("F182: are sent once after a restart if the process stopped after the commit", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const sent = yield* Queue.unbounded<Email>()
      const [anna, boss] = [yield* waiting("anna"), yield* user("boss")]
      yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${boss}`
      yield* (yield* Approvals).reject(anna)
      // No process has run so far, and the rejected account is deleted.
      const take = Queue.take(sent)
      const emptyTables = Effect.repeat(left, { until: (rows) => rows.length === 0 })
      const send = (email: Email) => Effect.asVoid(Queue.offer(sent, email))
      const [first, second] = yield* process(send, Effect.all([take, take]).pipe(Effect.tap(emptyTables)))
      assert.deepStrictEqual([first.to, second.to].toSorted(), ["anna@mail.example", "boss@mail.example"])
      yield* process(send, left)
      assert.strictEqual(yield* Queue.size(sent), 0)
      yield* sql`DELETE FROM users WHERE account_id = ${boss}`
    }))

  it.effect("F182: a process that is killed while sending leaves the e-mail to the next one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const began = yield* Deferred.make<void>()
      yield* (yield* Approvals).approve(yield* waiting("berta"))
      yield* process(() => Effect.andThen(Deferred.succeed(began, undefined), Effect.never), Deferred.await(began))
      // The claim expires.
      yield* sql`UPDATE promised_emails SET due_at = due_at - interval '5 minutes'`
      const sent = yield* Queue.unbounded<Email>()
      const send = (email: Email) => Effect.asVoid(Queue.offer(sent, email))
      assert.strictEqual((yield* process(send, Queue.take(sent))).to, "berta@mail.example")
      yield* sql`DELETE FROM promised_emails`
    }))

  it.effect("F182: a refused decision promises nothing, and a failed e-mail is retried and given up", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const cara = yield* waiting("cara")
      yield* approvals.approve(cara)
      yield* Effect.flip(approvals.approve(cara))
      const queue = yield* PromisedEmails
      const refused = (email: Email) => new EmailNotSent({ message: email.to })
      assert.strictEqual((yield* left).length, 1)
      const sql = yield* SqlClient.SqlClient
      const retried = sql`SELECT FROM promised_emails WHERE kind = 'email' AND tries = 1
        AND due_at BETWEEN now() AND now() + interval '2 minutes'`
      yield* process(refused, Effect.repeat(retried, { until: (rows) => rows.length === 1 }))
      yield* sql`UPDATE promised_emails SET tries = 7, due_at = now() - interval '1 second'`
      const [last] = yield* queue.claim(1)
      assert.strictEqual(last?.tries, 8)
      yield* queue.retry(last!)
      assert.deepStrictEqual(yield* left, [])
    }))

  it.effect("F211: an e-mail is given up if its process died in every attempt", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO promised_emails (kind, subject_id, due_at, tries)
        SELECT 'email', n, now() - interval '1 second', 6 + n FROM generate_series(1, 2) n`
      const claimed = yield* (yield* PromisedEmails).claim(10)
      assert.deepStrictEqual(claimed.map(({ subjectId, tries }) => [subjectId, tries]), [[1n, 8]])
      assert.strictEqual((yield* left).length, 1)
      yield* sql`DELETE FROM promised_emails`
    }))

  it.effect("F182 F74: the pending e-mails of one kind are bounded; concurrent promises keep the bound", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { promise } = yield* PromisedEmails
      yield* sql`INSERT INTO promised_emails (kind, subject_id, due_at)
        SELECT 'sign_up', n, now() FROM generate_series(1, ${promisesMax - 1}::int) n`
      yield* Effect.forEach([1n, 2n, 3n, 4n], (id) => sql.withTransaction(promise("sign_up", id)), {
        concurrency: "unbounded"
      })
      yield* sql.withTransaction(promise("strike", 1n))
      assert.deepStrictEqual(
        yield* sql`SELECT kind, count(*)::int AS waiting FROM promised_emails GROUP BY kind ORDER BY kind`,
        [{ kind: "sign_up", waiting: promisesMax }, { kind: "strike", waiting: 1 }]
      )
    }))
})
