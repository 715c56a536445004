import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
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
  }
)
