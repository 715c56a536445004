import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { EmailNotSent, Mailer } from "../../../src/services/emails/Mailer.ts"
import { TermsEmails } from "../../../src/services/identity/TermsEmails.ts"
import { user } from "../../support/SignedIn.ts"
import { Postbox, services } from "../../support/WebServer.ts"

layer(TermsEmails.layer.pipe(Layer.provideMerge(services)), { excludeTestServices: true })(
  "e-mails about terms of service",
  (it) => {
    it.effect("are sent to every user about the newest version, once", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { start, step } = yield* TermsEmails
        const [boss, anna] = [AccountId.make(yield* user("boss")), yield* user("anna")]
        yield* user("late")
        yield* sql`UPDATE users SET role_id = CASE account_id WHEN ${boss} THEN 3 ELSE role_id END,
        locale = CASE account_id WHEN ${anna} THEN 'de' END,
        confirmed_at = CASE WHEN account_id IN (${boss}, ${anna}) THEN confirmed_at END`
        assert.strictEqual((yield* Effect.flip(start(boss)))._tag, "RecordNotFound")
        yield* step
        yield* sql`INSERT INTO document_versions (id, kind, html, notice, effective_on, published_at)
        SELECT next_id(0), 'terms_of_service', '<p>x</p>', 'Shorter now.', day, ${new Date(0)}
        FROM unnest(ARRAY['2026-01-01', '2027-01-01']) day`
        assert.strictEqual((yield* Effect.flip(start(AccountId.make(anna))))._tag, "NotAllowed")
        assert.strictEqual(yield* start(boss), "2027-01-01")
        assert.strictEqual((yield* Effect.flip(start(boss)))._tag, "NotAllowed")
        yield* step
        yield* step
        yield* step
        const letters = [yield* Postbox.next, yield* Postbox.next]
        assert.deepStrictEqual(letters.map(({ subject, to }) => `${to} ${subject}`).toSorted(), [
          "anna@mail.example Neue Nutzungsbedingungen (local.example)",
          "boss@mail.example New terms of service (local.example)"
        ])
        assert.include(letters[0]?.text, "Shorter now.")
        assert.include(letters[0]?.text, "2027-01-01")
        assert.deepStrictEqual(
          yield* sql`SELECT emailed_at IS NOT NULL AS done FROM document_versions ORDER BY effective_on`,
          [{ done: false }, { done: true }]
        )
        assert.strictEqual((yield* Effect.flip(start(boss)))._tag, "NotAllowed")
      }))
  }
)

/** A mail server that the test controls. */
const state: { refuses: (to: string) => boolean; taken: Array<string>; during: Effect.Effect<void> } = {
  refuses: () => false,
  taken: [],
  during: Effect.void
}
const refusingMailServer = Layer.succeed(Mailer, {
  send: ({ to }) =>
    Effect.andThen(
      state.during,
      Effect.suspend(() =>
        state.refuses(to)
          ? Effect.fail(new EmailNotSent({ message: "no" }))
          : Effect.sync(() => void state.taken.push(to))
      )
    )
})

layer(TermsEmails.layer.pipe(Layer.provide(refusingMailServer), Layer.provideMerge(services)), {
  excludeTestServices: true
})(
  "e-mails about terms and a failing mail server",
  (it) => {
    const began = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM document_versions`
      yield* sql`DELETE FROM accounts WHERE domain IS NULL`
      for (const name of names) yield* user(name)
      yield* sql`INSERT INTO document_versions (id, kind, html, notice, effective_on, published_at, emailed_after)
        VALUES (next_id(0), 'terms_of_service', '<p>x</p>', '', '2027-01-01', ${new Date(0)}, 0)`
      state.taken = []
      state.refuses = () => false
      state.during = Effect.void
      return sql
    })
    const due = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`UPDATE document_versions SET emails_due_at = ${new Date(0)} WHERE emails_due_at IS NOT NULL`
    )
    const isDone = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => Effect.map(sql`SELECT FROM document_versions WHERE emailed_at IS NOT NULL`, ({ length }) => length === 1)
    )

    it.effect("F109: are sent again if the process ends between an e-mail and its row, by one node at a time", () =>
      Effect.gen(function*() {
        yield* began(["ada", "bob"])
        const { step } = yield* TermsEmails
        const sent = yield* Deferred.make<void>()
        state.during = Effect.suspend(() =>
          state.taken.length === 1 ? Effect.andThen(Deferred.succeed(sent, undefined), Effect.never) : Effect.void
        )
        const killed = yield* Effect.forkChild(step)
        yield* Deferred.await(sent)
        yield* step
        yield* Fiber.interrupt(killed)
        assert.strictEqual(state.taken.length, 1, "no second e-mail is sent while it is claimed")
        state.during = Effect.void
        yield* due
        yield* step
        yield* step
        assert.sameMembers(state.taken.slice(1), ["ada@mail.example", "bob@mail.example"])
        assert.isTrue(yield* isDone)
      }))

    it.effect("F109: wait while the mail server is down; a refused one is retried at the end and delays no other", () =>
      Effect.gen(function*() {
        const names = Array.from({ length: 35 }, (_, at) => `n${String(at).padStart(2, "0")}`)
        yield* began(names)
        const { step } = yield* TermsEmails
        state.refuses = () => true
        yield* step
        yield* step
        assert.isFalse(yield* isDone)
        state.refuses = (to) => to.startsWith("n03@")
        yield* step
        assert.deepStrictEqual(state.taken, [], "it rests")
        yield* due
        yield* step
        yield* step
        assert.strictEqual(state.taken.length, 34)
        yield* step
        assert.strictEqual(state.taken.length, 34, "the refused one rests")
        state.refuses = () => false
        yield* due
        yield* step
        assert.strictEqual(state.taken.at(-1), "n03@mail.example")
        yield* step
        assert.isTrue(yield* isDone)
        assert.strictEqual(new Set(state.taken).size, 35)
        assert.strictEqual(state.taken.length, 35)
      }))

    it.effect("F109: a permanently refused address is given up", () =>
      Effect.gen(function*() {
        yield* began(["ada", "bad"])
        const { step } = yield* TermsEmails
        state.refuses = (to) => to.startsWith("bad@")
        for (let round = 0; round < 7; round++) {
          yield* step
          yield* due
        }
        assert.deepStrictEqual(state.taken, ["ada@mail.example"])
        assert.isTrue(yield* isDone)
      }))
  }
)
