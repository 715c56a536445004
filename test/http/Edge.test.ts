import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../support/Server.ts"

interface Shown {
  readonly content: string
  readonly sensitive: boolean
}
interface Refusal {
  readonly error: string
  readonly unexpected_accounts: ReadonlyArray<{ readonly id: string }>
}
const bodyOf = <A>(response: Response): Effect.Effect<A> => Effect.promise(async () => (await response.json()) as A)

layer(TestServer.layer(), { excludeTestServices: true })("The edge", (it) => {
  it.effect("S-283: responds to unknown routes in JSON, with an id for the request", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const unknown = yield* fetch("/api/v1/nothing")
      assert.strictEqual(unknown.status, 404)
      assert.deepStrictEqual(yield* Effect.promise(() => unknown.json()), { error: "Not Found" })
      assert.match(unknown.headers.get("x-request-id") ?? "", /^[\w-]{8,64}$/)
      const named = yield* fetch("/api/v2/instance", { headers: { "x-request-id": "from-the-proxy" } })
      assert.strictEqual(named.headers.get("x-request-id"), "from-the-proxy")
    }))

  it.effect("lets scripts of any origin read the API, and nothing else", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const origin = { headers: { origin: "https://app.example" } }
      const api = yield* fetch("/api/v1/instance", origin)
      assert.strictEqual(api.headers.get("access-control-allow-origin"), "*")
      assert.include(api.headers.get("access-control-expose-headers") ?? "", "Link")
      const preflight = yield* fetch("/api/v1/statuses", {
        method: "OPTIONS",
        headers: {
          ...origin.headers,
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,idempotency-key"
        }
      })
      assert.strictEqual(preflight.status, 204)
      assert.include(preflight.headers.get("access-control-allow-headers") ?? "", "idempotency-key")
      const page = yield* fetch("/auth/sign_in", origin)
      assert.isNull(page.headers.get("access-control-allow-origin"))
    }))

  it.effect("S-120, S-129, S-194: accepts forms and JSON alike, and names accounts that a post would reach unexpectedly", () =>
    Effect.gen(function*() {
      const { createPerson, fetch } = yield* TestServer
      const alice = yield* createPerson("alice")
      const bob = yield* createPerson("bob")
      const json = yield* fetch("/api/v1/statuses", {
        method: "POST",
        token: alice.token,
        json: { status: "one", sensitive: "0" }
      })
      const form = yield* fetch("/api/v1/statuses/", {
        method: "POST",
        token: alice.token,
        body: new URLSearchParams({ status: "two", sensitive: "true" })
      })
      const shown = [yield* bodyOf<Shown>(json), yield* bodyOf<Shown>(form)]
      assert.deepStrictEqual(shown.map(({ content, sensitive }) => [content, sensitive]), [["<p>one</p>", false], [
        "<p>two</p>",
        true
      ]])
      const unexpected = yield* fetch("/api/v1/statuses", {
        method: "POST",
        token: alice.token,
        json: { status: "hi @bob", allowed_mentions: [alice.accountId.toString()] }
      })
      assert.strictEqual(unexpected.status, 422)
      const body = yield* bodyOf<Refusal>(unexpected)
      assert.strictEqual(body.error, "Post would be sent to unexpected accounts")
      assert.deepStrictEqual(body.unexpected_accounts.map(({ id }) => id), [bob.accountId.toString()])
      const media = yield* fetch("/api/v1/statuses", {
        method: "POST",
        token: alice.token,
        json: { status: "x", media_ids: ["1"] }
      })
      assert.strictEqual(media.status, 422)
      const empty = yield* fetch("/api/v1/statuses", {
        method: "POST",
        token: alice.token,
        json: { status: "x", media_ids: [], poll: null }
      })
      assert.strictEqual(empty.status, 200)
    }))
})
