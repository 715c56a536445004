import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EmailNotSent, Mailer } from "../../../src/services/emails/Mailer.ts"
import { EmailDigests } from "../../../src/services/subscriptions/EmailDigests.ts"
import { runDigestSweep, withEmailSubscriptions, write } from "../../support/Subscribers.ts"
import { server } from "../../support/WebServer.ts"

/** A mail server that refuses the addresses in `refused`, or all for `*`. */
const refused = new Set<string>()
const taken: Array<string> = []
const refusingMailServer = Layer.succeed(Mailer, {
  send: ({ to }) =>
    refused.has(to) || refused.has("*")
      ? Effect.fail(new EmailNotSent({ message: "no" }))
      : Effect.sync(() => void taken.push(to))
})

layer(
  Layer.provideMerge(
    EmailDigests.layer.pipe(Layer.provide(refusingMailServer)),
    server({ emailSubscriptions: true })
  ),
  { excludeTestServices: true }
)("posts by e-mail, with a refusing mail server", (it) => {
  it.effect("a refused address does not delay others; an unavailable mail server is retried", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { bearer, id } = yield* withEmailSubscriptions("kim")
      const names = Array.from({ length: 35 }, (_, n) => `r${String(n).padStart(2, "0")}@mail.example`)
      const before = new Date((yield* Clock.currentTimeMillis) - 1_000)
      for (const [n, name] of names.entries()) {
        yield* sql`INSERT INTO email_subscriptions (id, account_id, email, locale, created_at, confirmed_at)
          VALUES (${n + 1}, ${id}, ${name}, 'en', ${before}, ${before})`
      }
      yield* write(bearer, { status: "hello" })
      refused.add("*")
      yield* runDigestSweep
      assert.deepStrictEqual(taken, [])
      refused.clear()
      refused.add("r07@mail.example")
      yield* runDigestSweep
      assert.deepStrictEqual(taken, [], "it backs off")
      yield* sql`UPDATE email_digests SET due_at = ${before}`
      yield* runDigestSweep
      assert.deepStrictEqual(taken.toSorted(), names.filter((name) => !refused.has(name)))
      yield* runDigestSweep
      assert.strictEqual(taken.length, 34)
      // F75: the refused address is tried again by itself.
      const left = sql<{ receiverIds: ReadonlyArray<bigint> }>`SELECT receiver_ids FROM email_digests`
      assert.deepStrictEqual((yield* left).map(({ receiverIds }) => receiverIds), [[8n]])
      yield* sql`UPDATE email_digests SET due_at = ${before}`
      yield* runDigestSweep
      assert.strictEqual(taken.length, 34)
      refused.clear()
      yield* sql`UPDATE email_digests SET due_at = ${before}`
      yield* runDigestSweep
      assert.strictEqual(taken.at(-1), "r07@mail.example")
      assert.strictEqual(taken.length, 35)
      yield* runDigestSweep
      assert.strictEqual((yield* left).length, 0)
    }))

  it.effect("F75: a permanently refused address is given up after a few attempts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      taken.length = 0
      const { bearer, id } = yield* withEmailSubscriptions("kai")
      const before = new Date((yield* Clock.currentTimeMillis) - 1_000)
      for (const [n, name] of ["good@mail.example", "bad@mail.example"].entries()) {
        yield* sql`INSERT INTO email_subscriptions (id, account_id, email, locale, created_at, confirmed_at)
          VALUES (${n + 101}, ${id}, ${name}, 'en', ${before}, ${before})`
      }
      refused.add("bad@mail.example")
      yield* write(bearer, { status: "hello" })
      for (let round = 0; round < 7; round++) {
        yield* runDigestSweep
        yield* sql`UPDATE email_digests SET due_at = ${before}`
      }
      assert.deepStrictEqual(taken, ["good@mail.example"])
      assert.strictEqual((yield* sql`SELECT 1 FROM email_digests`).length, 0)
    }))
})
