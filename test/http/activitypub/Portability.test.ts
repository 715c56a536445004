import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { limits } from "../../../src/http/guard/Limits.ts"
import { ask, json, newPerson, publish, publishedId, settled } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"

const scope = "activitypub_account_portability"
const activity = { accept: "application/activity+json" }

// Tests read bodies of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** Reads a document as another server, with a token or without one. */
const read = Effect.fnUntraced(function*(url: string, token?: string) {
  const { baseUrl, fetch } = yield* TestServer
  const path = url.startsWith(baseUrl) ? url.slice(baseUrl.length) : url
  const response = yield* fetch(path, {
    headers: { ...activity, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    redirect: "manual"
  })
  const text = yield* Effect.promise(() => response.text())
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as Json }
})

/** Reads all pages of a collection. */
const items = Effect.fnUntraced(function*(url: string, token: string) {
  const all: Array<Json> = []
  let next: string | undefined = (yield* read(url, token)).body.first
  while (next !== undefined) {
    const { body, headers, status }: { body: Json; headers: Headers; status: number } = yield* read(next, token)
    assert.deepStrictEqual([status, headers.get("cache-control")], [200, "private, no-store"])
    assert.include(headers.get("vary") ?? "", "Authorization")
    all.push(...body.orderedItems)
    next = body.next
  }
  return all
})

/** Creates a member and a token for copying the account. */
const copied = Effect.fnUntraced(function*(name: string) {
  const { createToken } = yield* TestServer
  const person = yield* newPerson(name)
  return { person, token: yield* createToken(person.accountId, [scope]) }
})

layer(TestServer.layer(), { excludeTestServices: true })("copies of accounts by other servers", (it) => {
  it.effect("discovery: the actor document and the OAuth metadata name the authorization endpoint", () =>
    Effect.gen(function*() {
      yield* newPerson("ann")
      const { body } = yield* read("/users/ann")
      const metadata = yield* json(undefined, "/.well-known/oauth-authorization-server")
      assert.match(body.accountPortabilityOauth, /^http.*\/oauth\/authorize$/)
      assert.strictEqual(metadata[scope], body.accountPortabilityOauth)
      assert.include(metadata.scopes_supported, scope)
      for (const name of ["migration", "content", "blocked", "liked"]) assert.notProperty(body, name)
      assert.notInclude(JSON.stringify(body["@context"]), "lola#migration")
    }))

  it.effect("F289: with the user's token the actor document names the collections, and no cache mixes it up", () =>
    Effect.gen(function*() {
      const { person, token } = yield* copied("ben")
      const { body, headers } = yield* read("/users/ben", token)
      for (const name of ["migration", "content", "following", "blocked", "liked"]) {
        assert.strictEqual((yield* read(body[name], token)).status, 200, name)
      }
      assert.strictEqual(headers.get("cache-control"), "private, no-store")
      // Tokens of apps, of others and invalid ones get the public document, and no collection.
      const other = yield* copied("bob")
      for (const wrong of [person.token, other.token, "wrong"]) {
        const seen = yield* read("/users/ben", wrong)
        assert.strictEqual(seen.status, 200)
        assert.notProperty(seen.body, "migration")
        assert.include(seen.headers.get("cache-control") ?? "", "public")
        assert.include(seen.headers.get("vary") ?? "", "Authorization")
        assert.strictEqual((yield* read(body.migration, wrong)).status, wrong === "wrong" ? 401 : 403)
      }
      for (const path of ["/users/ben", "/users/ben/following"]) {
        assert.include((yield* read(path)).headers.get("vary") ?? "", "Authorization", path)
      }
      assert.strictEqual((yield* read(body.blocked)).status, 401)
      const { baseUrl, fetch } = yield* TestServer
      const byQuery = yield* fetch(`${body.liked.slice(baseUrl.length)}?access_token=${token}`)
      assert.strictEqual(byQuery.status, 401)
      // The token opens nothing else.
      for (const path of ["/api/v1/accounts/verify_credentials", "/api/v1/timelines/home", "/api/v1/preferences"]) {
        assert.strictEqual((yield* ask({ token }, "GET", path)).status, 403, path)
      }
      assert.strictEqual((yield* ask({ token }, "POST", "/api/v1/statuses", { status: "x" })).status, 403)
    }))

  it.effect("posts of every visibility are in their current version, newest first, without Create, Update and Delete", () =>
    Effect.gen(function*() {
      const { person, token } = yield* copied("cat")
      const carl = yield* newPerson("carl")
      const texts: Array<string> = []
      for (const visibility of ["public", "unlisted", "private", "direct"]) {
        const text = `${visibility} @carl`
        yield* publish(person, text, { visibility })
        texts.unshift(text)
      }
      const edited = yield* publishedId(person, "before")
      yield* json(person, `/api/v1/statuses/${edited}`, { status: "after" }, "PUT")
      const gone = yield* publishedId(person, "gone")
      yield* json(person, `/api/v1/statuses/${gone}`, undefined, "DELETE")
      yield* publish(person, "stays here", { local_only: true })
      const theirs = yield* publishedId(carl, "carl's")
      yield* json(person, `/api/v1/statuses/${theirs}/reblog`, {})
      yield* json(person, `/api/v1/statuses/${theirs}/favourite`, {})
      yield* settled
      const { body } = yield* read("/users/cat", token)
      const posts = yield* items(body.migration, token)
      assert.deepStrictEqual(posts.map(({ type }) => type), ["Announce", "Note", "Note", "Note", "Note", "Note"])
      assert.notInclude(JSON.stringify(posts), "stays here")
      const plain = (post: Json) => String(post.content).replace(/<[^>]*>/g, "")
      assert.deepStrictEqual(posts.slice(1).map(plain), ["after", ...texts])
      assert.deepStrictEqual((yield* items(body.content, token)).map(plain), ["after", ...texts])
      const [liked] = yield* items(body.liked, token)
      assert.include(liked, `/users/carl/statuses/${theirs}`)
      assert.strictEqual(posts[0].object, liked)
      // Another reader sees two of the four, and no boosts of the private ones.
      const outbox = yield* read(`${body.outbox}?page=true`)
      assert.notInclude(JSON.stringify(outbox.body), "private @")
    }))

  it.effect("many posts come in pages; hidden follows and blocks are complete, followers are not copied", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { person, token } = yield* copied("dan")
      const friends = yield* Effect.forEach(["eva", "eve"], newPerson)
      yield* sql`UPDATE accounts SET hide_collections = true WHERE id = ${person.accountId}`
      yield* json(person, `/api/v1/accounts/${friends[0]!.accountId}/follow`, {})
      yield* json(person, `/api/v1/accounts/${friends[1]!.accountId}/block`, {})
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, local, html, text, created_at)
        SELECT 1000 + n, ${person.accountId}, 'public', 1000 + n, true, n::text, n::text, now()
        FROM generate_series(1, 250) n`
      yield* sql`INSERT INTO status_stats (status_id) SELECT 1000 + n FROM generate_series(1, 250) n ON CONFLICT DO NOTHING`
      const { body } = yield* read("/users/dan", token)
      const posts = yield* items(body.migration, token)
      assert.lengthOf(posts, 250)
      assert.lengthOf(new Set(posts.map(({ id }) => id)), 250)
      assert.deepStrictEqual(yield* items(body.following, token), [body.id.replace("dan", "eva")])
      assert.deepStrictEqual(yield* items(body.blocked, token), [body.id.replace("dan", "eve")])
      assert.strictEqual((yield* read(`${body.following}?page=true`)).status, 403)
      assert.strictEqual((yield* read(`${body.followers}?page=true`, token)).status, 403)
    }))

  it.effect("a suspended account can be copied; a disabled login and a revoked token cannot", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { person, token } = yield* copied("fay")
      yield* publish(person, "before the suspension")
      const { body } = yield* read("/users/fay", token)
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${person.accountId}`
      assert.lengthOf(yield* items(body.migration, token), 1)
      yield* sql`UPDATE users SET disabled = true WHERE account_id = ${person.accountId}`
      assert.strictEqual((yield* read(body.migration, token)).status, 403)
      yield* sql`UPDATE users SET disabled = false WHERE account_id = ${person.accountId}`
      assert.strictEqual((yield* read(body.migration, token)).status, 200)
      const { createToken } = yield* TestServer
      const revoked = yield* createToken(person.accountId, [scope])
      yield* sql`UPDATE oauth_tokens SET revoked_at = now() WHERE account_id = ${person.accountId}`
      assert.strictEqual((yield* read(body.migration, revoked)).status, 401)
    }))
})

layer(TestServer.layer({ RATE_LIMITS: "on" }), { excludeTestServices: true })("limits of copies", (it) => {
  it.effect("F289: a copy uses the limits of its user and token; beyond them 429 names the time to continue", () =>
    Effect.gen(function*() {
      const { token } = yield* copied("gus")
      let last = yield* read("/users/gus/blocked", token)
      for (let count = 0; count <= limits.apiToken.uses && last.status === 200; count++) {
        last = yield* read("/users/gus/blocked", token)
      }
      assert.strictEqual(last.status, 429)
      assert.match(last.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/)
      for (const path of ["/users/gus", "/users/gus/following"]) {
        const refused = yield* read(path, token)
        assert.strictEqual(refused.status, 429, path)
        assert.match(refused.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/, path)
      }
      assert.strictEqual((yield* read("/users/gus")).status, 200)
    }))
})
