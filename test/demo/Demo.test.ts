import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Operator from "../../src/cli/Operator.ts"
import { TestServer } from "../support/Server.ts"
import { Client } from "./Client.ts"
import { fill, show } from "./Fill.ts"
import * as Plan from "./Plan.ts"

describe("the plan of a demonstration", () => {
  it("equals another run with the same seed, and is complete", () => {
    const plan = Plan.make(1, 200, 2000)
    assert.deepStrictEqual(Plan.make(1, 200, 2000), plan)
    assert.notDeepEqual(Plan.make(2, 200, 2000).posts, plan.posts)
    assert.lengthOf(plan.people, 200)
    assert.lengthOf(new Set(plan.people.map(({ username }) => username)), 200)
    assert.isAtLeast(plan.follows.length, 1000)
    assert.isTrue(plan.follows.every(([follower, followed]) => follower !== followed))
    for (const [index, { parent }] of plan.posts.entries()) if (parent !== undefined) assert.isBelow(parent, index)
    assert.isAtLeast(plan.posts.filter(({ parent }) => parent !== undefined).length, 400)
    assert.isTrue(plan.posts.every(({ text }) => !text.includes("{")))
  })
})

/** A server with these responses, in order. */
const respondingHost = (...responses: ReadonlyArray<() => Response>) => {
  const left = [...responses]
  return Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() => HttpClientResponse.fromWeb(request, left.shift()?.() ?? new Response("{}", { status: 500 })))
    )
  )
}
const limited = (resetAt: number) => () =>
  new Response("{}", {
    status: 429,
    headers: { "x-ratelimit-reset": new Date(resetAt).toISOString().replace("Z", "000Z") }
  })

describe("the client of a demonstration", () => {
  it.effect("S-279: waits for a rate limit's reset, and for a busy server's Retry-After", () =>
    Effect.gen(function*() {
      const client = yield* Client
      const sent = yield* Effect.forkChild(client.send("POST", "/api/v1/statuses", "token", {}, "key"))
      yield* TestClock.adjust("119999 millis")
      assert.isUndefined(sent.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Fiber.join(sent), "7")
      assert.deepStrictEqual(yield* client.waits, { times: 2, millis: 123_000 })
    }).pipe(
      Effect.provide(Client.layer("http://server.example")),
      Effect.provide(respondingHost(
        limited(120_000),
        () => new Response("{}", { status: 503, headers: { "retry-after": "3" } }),
        () => Response.json({ id: "7" })
      ))
    ))

  it.effect("reports why a request is refused", () =>
    Effect.gen(function*() {
      const client = yield* Client
      const { message } = yield* Effect.flip(client.send("POST", "/api/v1/statuses", "token", {}, "key"))
      assert.strictEqual(message, "POST /api/v1/statuses was answered with 422: no")
    }).pipe(
      Effect.provide(Client.layer("http://server.example")),
      Effect.provide(respondingHost(() => new Response("no", { status: 422 })))
    ))
})

layer(TestServer.layer({ RATE_LIMITS: "on" }), { excludeTestServices: true })("a demonstration", (it) => {
  it.effect("fills a running server, and fills it again", () =>
    Effect.gen(function*() {
      const { baseUrl, variables } = yield* TestServer
      const operator = Operator.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))
      const run = (seed: number) =>
        fill(Plan.make(seed, 5, 30)).pipe(
          Effect.provide(Layer.merge(operator, Client.layer(baseUrl).pipe(Layer.provide(FetchHttpClient.layer))))
        )
      const figures = yield* run(1)
      assert.deepInclude(figures, { accounts: 5, posts: 30, waits: 0 })
      assert.match(show(figures), /^5 accounts, \d+ follows, 30 posts in [2-5] languages\n/)
      const sql = yield* SqlClient.SqlClient
      const [found] = yield* sql`SELECT
        (SELECT count(*)::int FROM accounts WHERE display_name <> '' AND note_html <> '') AS accounts,
        (SELECT count(*)::int FROM follows) AS follows,
        (SELECT count(*)::int FROM statuses) AS posts,
        (SELECT count(*)::int FROM statuses WHERE in_reply_to_id IS NOT NULL) AS replies,
        (SELECT count(*)::int FROM statuses_tags) AS tags`
      const { accounts, follows, posts, replies, tags } = figures
      assert.deepStrictEqual(found, { accounts, follows, posts, replies, tags })
      yield* run(2)
      const [again] = yield* sql`SELECT (SELECT count(*)::int FROM statuses) AS posts,
        (SELECT count(*)::int FROM users) AS accounts`
      assert.deepStrictEqual(again, { posts: 60, accounts: 5 })
    }))
})
