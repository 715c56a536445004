import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import migration from "../../../migrations/0026_moments.ts"
import { json, newPerson } from "../../support/Api.ts"
import { acceptPrivateMentions } from "../../support/People.ts"
import { TestServer } from "../../support/Server.ts"
import { eventually, respond, serve, timesAsked } from "./Exchange.ts"
import { actorOf, received, there } from "./InboxCalls.ts"
import { remotePoll, tally } from "./RemotePolls.ts"
import { deliverFrom, servers } from "./Sending.ts"

/** Moves refreshes a minute into the past. */
const later = SqlClient.SqlClient.use((sql) =>
  Effect.orDie(sql`UPDATE look_ups SET begun_at = begun_at - interval '61 seconds' WHERE kind = 'poll'`)
)

layer(servers, { excludeTestServices: true })("polls of other servers", (it) => {
  it.effect("S-076: polls are refreshed by views, at most once a minute, and once after their end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben, zoe] = [yield* newPerson("anna"), yield* newPerson("ben"), yield* there("zoe")]
      const me = yield* actorOf(anna)
      const asked = (one: number, two: number) => remotePoll(zoe, "q", me, { one, two })
      yield* deliverFrom(zoe, { type: "Create", object: asked(1, 0) })
      const { poll: { id } } = yield* received(anna)
      const look = Effect.map(json(anna, `/api/v1/polls/${id}`), (poll) => tally({ poll }))
      const uri = asked(0, 0)["id"]
      yield* serve(asked(3, 4))
      const { fetch } = yield* TestServer
      assert.strictEqual((yield* fetch(`/api/v1/polls/${id}`)).status, 200)
      assert.strictEqual(yield* timesAsked(uri), 0)
      const many = Effect.forEach([anna, ben, anna, ben], (by) => json(by, `/api/v1/polls/${id}`), {
        concurrency: "unbounded"
      })
      yield* many
      assert.deepStrictEqual(yield* look, [7, 3, 4])
      assert.strictEqual(yield* timesAsked(uri), 1)
      yield* serve(asked(5, 5))
      yield* later
      assert.deepStrictEqual(yield* look, [10, 5, 5])
      assert.strictEqual(yield* timesAsked(uri), 2)
      // Results from before the end may not be final.
      const end = new Date(Date.now() - 3_600_000)
      yield* sql`UPDATE polls SET expires_at = ${end} WHERE status_id = ${id}`
      yield* sql`UPDATE look_ups SET begun_at = ${new Date(end.getTime() - 3_600_000)} WHERE kind = 'poll'`
      yield* serve({ ...asked(6, 6), endTime: end.toISOString() })
      assert.deepStrictEqual(yield* look, [12, 6, 6])
      yield* later
      yield* look
      assert.strictEqual(yield* timesAsked(uri), 3)
    }))

  it.effect("S-076: polls of slow or silent servers are shown as cached", () =>
    Effect.gen(function*() {
      const [cleo, yan] = [yield* newPerson("cleo"), yield* there("yan")]
      const me = yield* actorOf(cleo)
      const asked = remotePoll(yan, "slow", me, { one: 1, two: 2 })
      yield* deliverFrom(yan, { type: "Create", object: asked })
      const { poll: { id } } = yield* received(cleo)
      const look = Effect.map(json(cleo, `/api/v1/polls/${id}`), (poll) => tally({ poll }))
      yield* respond(new URL(String(asked["id"])).pathname, (_, response) => response.writeHead(404).end())
      assert.deepStrictEqual(yield* look, [3, 1, 2])
      let release = () => {}
      yield* respond(new URL(String(asked["id"])).pathname, (_, response) => {
        release = () =>
          response.writeHead(200, { "content-type": "application/activity+json" }).end(
            JSON.stringify({
              "@context": "https://www.w3.org/ns/activitystreams",
              ...remotePoll(yan, "slow", me, { one: 8, two: 9 })
            })
          )
      })
      yield* later
      assert.deepStrictEqual(yield* look, [3, 1, 2])
      release()
      yield* eventually(Effect.map(look, ([voters]) => voters === 17 ? true : undefined))
    }))

  it.effect("S-076: are not refreshed for restricted posts, nor by viewers who cannot see the post", () =>
    Effect.gen(function*() {
      const [dora, emil, wim] = [yield* newPerson("dora"), yield* newPerson("emil"), yield* there("wim")]
      yield* acceptPrivateMentions(dora)
      const me = yield* actorOf(dora)
      const secret = remotePoll(wim, "secret", me, { one: 1, two: 2 }, { to: [me], cc: [] })
      yield* deliverFrom(wim, { type: "Create", object: secret })
      const { poll: { id } } = yield* received(dora)
      assert.strictEqual((yield* json(dora, `/api/v1/polls/${id}`)).voters_count, 3)
      assert.strictEqual((yield* json(emil, `/api/v1/polls/${id}`)).error, "Record not found")
      assert.strictEqual(yield* timesAsked(secret["id"]), 0)
    }))

  it.effect("F10: a poll that ends in the year 10000 is shown with a valid end", () =>
    Effect.gen(function*() {
      const [ida, ute] = [yield* newPerson("ida"), yield* there("ute", { published: "+010000-01-01T00:00:00Z" })]
      const me = yield* actorOf(ida)
      const ends = {
        far: "+010000-01-01T00:00:00.000Z",
        farther: "+275760-09-13T00:00:00.000Z",
        five: "10000-01-01T00:00:00Z",
        farthest: "+999999-12-31T00:00:00Z",
        late: "9999-12-31T23:59:59-12:00",
        early: "-000044-03-15T12:00:00Z",
        none: "tomorrow"
      }
      for (const [name, endTime] of Object.entries(ends)) {
        const object = remotePoll(ute, `ends-${name}`, me, { a: 1 }, { endTime, published: "-000001-01-01T00:00:00Z" })
        assert.strictEqual(yield* deliverFrom(ute, { type: "Create", object }), "done")
      }
      for (const path of ["/api/v1/notifications", "/api/v2/notifications", "/api/v1/timelines/public"]) {
        const respond = yield* json(ida, path)
        assert.isUndefined(respond.error, `${path} ${respond.error}`)
      }
      const shown: ReadonlyArray<{ status: { content: string; poll: { expires_at: string | null } } }> = yield* json(
        ida,
        "/api/v1/notifications"
      )
      assert.deepStrictEqual(
        Object.fromEntries(
          shown.map(({ status }) => [status.content.replace(/<p>ends-(.*)<.p>/, "$1"), status.poll.expires_at])
        ),
        {
          far: "9999-12-31T23:59:59.999Z",
          farther: "9999-12-31T23:59:59.999Z",
          five: "9999-12-31T23:59:59.999Z",
          farthest: "9999-12-31T23:59:59.999Z",
          late: "9999-12-31T23:59:59.999Z",
          early: "1970-01-01T00:00:00.000Z",
          none: null
        }
      )
    }))

  it.effect("F10: an existing row that cannot be rendered is left out of each page, and does not break it", () =>
    Effect.gen(function*() {
      const [jon, good, bad] = [yield* newPerson("jon"), yield* there("good"), yield* there("bad")]
      const me = yield* actorOf(jon)
      const [gone] = [yield* there("gone")]
      for (const by of [good, bad, gone]) {
        const tag = [{ type: "Mention", href: me }, { type: "Hashtag", name: "#kept" }]
        const object = remotePoll(by, `kept-by-${by.name}`, me, { a: 1 }, { tag })
        assert.strictEqual(yield* deliverFrom(by, { type: "Create", object }), "done")
      }
      const sql = yield* SqlClient.SqlClient
      const [status] = yield* sql<{ id: bigint }>`UPDATE polls SET expires_at = 'infinity'
        FROM statuses WHERE id = status_id AND uri = ${`${bad.id}/notes/kept-by-bad`} RETURNING id`
      yield* sql`UPDATE accounts SET created_at = 'infinity' WHERE uri = ${gone.id}`
      const { fetch } = yield* TestServer
      const pages = [
        "/api/v1/notifications",
        "/api/v2/notifications",
        "/api/v1/timelines/public",
        "/api/v1/timelines/tag/kept",
        "/api/v1/notifications/requests",
        "/api/v2/search?q=good",
        `/api/v1/statuses/${status?.id}/context`,
        "/tags/kept"
      ]
      for (const path of pages) {
        const response = yield* fetch(path, { token: jon.token })
        const text = yield* Effect.promise(() => response.text())
        assert.strictEqual(response.status, 200, `${path} ${text}`)
        if (/timelines|notifications$/.test(path)) assert.include(text, "kept-by-good", path)
        if (path.startsWith("/api")) assert.notMatch(text, /kept-by-(bad|gone)/, path)
      }
      assert.strictEqual((yield* fetch(`/api/v1/statuses/${status?.id}`, { token: jon.token })).status, 404)
      // A migration repairs existing rows of this kind.
      yield* migration
      for (const path of ["/api/v1/notifications", "/api/v1/timelines/public"]) {
        const text = JSON.stringify(yield* json(jon, path))
        for (const name of ["good", "bad", "gone"]) assert.include(text, `kept-by-${name}`, path)
      }
    }))
})
