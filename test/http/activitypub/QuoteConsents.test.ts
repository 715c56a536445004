import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { QuoteConsents } from "../../../src/services/federation/inbox/QuoteConsents.ts"
import { Jobs } from "../../../src/services/intents/Jobs.ts"
import { json, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { actorOf, mentioning, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, send, servers, settled } from "./Sending.ts"

type Json = Record<string, unknown>

const quoteOf = Effect.fnUntraced(function*(uri: unknown) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<
    { state: string; id: bigint; quotedUri: string | null }
  >`SELECT q.state, s.id, q.quoted_uri FROM quotes q
    JOIN statuses s ON s.id = q.status_id WHERE s.uri = ${uri as string}`
  return row!
})
/** Waits until no first attempt of a job of the kind is left. */
const worked = (kind: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => eventually(sql`SELECT FROM errands WHERE kind = ${kind} AND tries < 1`, (rows) => rows.length === 0)
  )

layer(servers, { excludeTestServices: true })("accepted and pending quotes", (it) => {
  it.effect("row 21: a quoted post that arrives later is then shown as quoted", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna1")
      const zoe = yield* there("zoe1")
      const heard = mentioning(yield* actorOf(anna))
      const original = note(zoe, "original", heard)
      const quote = note(zoe, "quote", { ...heard, quote: original["id"] })
      yield* deliverFrom(zoe, { type: "Create", object: quote })
      yield* worked("quote")
      assert.deepInclude(yield* quoteOf(quote["id"]), { state: "pending", quotedUri: String(original["id"]) })
      yield* deliverFrom(zoe, { type: "Create", object: original })
      yield* eventually(quoteOf(quote["id"]), ({ quotedUri, state }) => state === "accepted" && quotedUri === null)
      const { id } = yield* quoteOf(quote["id"])
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${id}`)).quote.state, "accepted")
    }))

  it.effect("row 21: another server's consent is verified again once a week, and the quote ends with it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { documents } = yield* OtherServer
      const anna = yield* newPerson("anna2")
      const [zoe, max] = [yield* there("zoe2"), yield* there("max2")]
      const heard = mentioning(yield* actorOf(anna))
      const serve = (uri: unknown, document: Json) =>
        documents.set(new URL(String(uri)).pathname, {
          "@context": "https://www.w3.org/ns/activitystreams",
          ...document
        })
      const quoted = note(max, "quoted")
      serve(quoted["id"], quoted)
      const address = `${max.id}/stamps/1`
      const quote = note(zoe, "quote", { ...heard, quote: quoted["id"], quoteAuthorization: address })
      serve(address, {
        id: address,
        type: "QuoteAuthorization",
        attributedTo: max.id,
        interactingObject: quote["id"],
        interactionTarget: quoted["id"]
      })
      yield* send(zoe, { type: "Create", object: quote })
      yield* settled
      yield* eventually(quoteOf(quote["id"]), ({ state }) => state === "accepted")
      const { id } = yield* quoteOf(quote["id"])
      const swept = Effect.gen(function*() {
        yield* (yield* QuoteConsents).sweep
        return yield* sql<{ due: boolean }>`SELECT FROM errands WHERE kind = 'consent'`
      }).pipe(Effect.provide(QuoteConsents.layer.pipe(Layer.provide(Jobs.layer))))
      assert.lengthOf(yield* swept, 0)
      const older =
        sql`UPDATE quotes SET created_at = created_at - interval '8 days', checked_at = NULL WHERE status_id = ${id}`
      yield* older
      yield* swept
      yield* worked("consent")
      yield* eventually(sql`SELECT FROM errands WHERE kind = 'consent'`, (rows) => rows.length === 0)
      assert.strictEqual((yield* quoteOf(quote["id"])).state, "accepted")
      // The consent was verified just now.
      assert.lengthOf(yield* swept, 0)
      documents.delete(new URL(address).pathname)
      yield* older
      yield* swept
      yield* eventually(quoteOf(quote["id"]), ({ state }) => state === "revoked")
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${id}`)).quote.state, "revoked")
    }))
})
