import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EmailNotSent, Mailer } from "../../../src/services/emails/Mailer.ts"
import { TermsEmails } from "../../../src/services/identity/TermsEmails.ts"
import { AccountId } from "../../../src/services/Ids.ts"
import { user } from "../../support/SignedIn.ts"
import { Postbox, services } from "../../support/WebServer.ts"

layer(TermsEmails.layer.pipe(Layer.provideMerge(services)), { excludeTestServices: true })(
  "letters about terms",
  (it) => {
    it.effect("everybody who can sign in gets one about the newest version, once", () =>
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

    it.effect("F121: an e-mail that failed is sent again, and nobody is left out after a crash or an outage", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM document_versions`
        yield* sql`INSERT INTO document_versions (id, kind, html, effective_on, published_at, emailed_after)
          VALUES (7, 'terms_of_service', '<p>x</p>', '2028-01-01', ${new Date(0)}, 0)`
        yield* sql`UPDATE users SET confirmed_at = ${new Date(0)} WHERE confirmed_at IS NULL`
        const sent: Array<string> = []
        let refuses = (to: string): boolean => to.startsWith("late")
        const mailer = Mailer.of({
          send: ({ to }) =>
            Effect.suspend(() =>
              refuses(to) ? new EmailNotSent({ message: "no" }) : Effect.sync(() => void sent.push(to))
            )
        })
        const { step } = yield* Effect.provide(
          TermsEmails,
          Layer.fresh(TermsEmails.layer).pipe(Layer.provide(Layer.succeed(Mailer, mailer)))
        )
        yield* step
        const others = sent.splice(0).toSorted()
        assert.deepStrictEqual(others, ["anna@mail.example", "boss@mail.example"])
        const due = sql`UPDATE document_versions SET email_due_at = ${new Date(0)} WHERE id = 7`
        yield* due
        refuses = () => false
        yield* step
        assert.deepStrictEqual(sent.splice(0), ["late@mail.example"])
        assert.lengthOf(yield* sql`SELECT FROM document_versions WHERE id = 7 AND emailed_at IS NOT NULL`, 1)
        // A node that died while it sent: its lease ends, and the slice is sent again.
        yield* sql`UPDATE document_versions SET emailed_at = NULL, emailed_after = 0, email_tries = 0,
          email_due_at = ${new Date(Date.now() + 60_000)} WHERE id = 7`
        yield* step
        assert.deepStrictEqual(sent, [])
        yield* due
        yield* step
        assert.deepStrictEqual(sent.toSorted(), [...others, "late@mail.example"].toSorted())
      }))
  }
)
