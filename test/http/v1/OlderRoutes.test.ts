import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { person } from "../../support/People.ts"
import { get, send } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const everything = ["read", "write", "follow", "push", "profile"]

const callRoute = (method: string, path: string, bearer?: string) =>
  send(path.replaceAll(/:[a-z_]+/g, "1"), {
    method,
    ...(bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } })
  })

layer(server(), { excludeTestServices: true })("requests of old and new apps", (it) => {
  it.effect("apps' requests at start: lists [], announcements [], no push subscription", () =>
    Effect.gen(function*() {
      const bearer = yield* issueToken(yield* person("dana"), everything)
      const empty = `lists announcements followed_tags`.split(/\s+/).map((name) => `/api/v1/${name}`)
      for (const path of empty) {
        const { body, headers } = yield* get(path, bearer)
        assert.deepStrictEqual(body, [], path)
        assert.strictEqual(headers.get("link"), null)
      }
      assert.strictEqual((yield* get("/api/v1/push/subscription", bearer)).status, 404)
      assert.strictEqual((yield* get("/api/v1/donation_campaigns", bearer)).status, 204)
      assert.strictEqual((yield* get("/api/v1/polls/1")).status, 404)
    }))

  it.effect("S-307 S-308: older routes state since when they are deprecated", () =>
    Effect.gen(function*() {
      const bearer = yield* issueToken(yield* person("frida"))
      const deprecation = (path: string) => Effect.map(get(path, bearer), ({ headers }) => headers.get("deprecation"))
      assert.strictEqual(yield* deprecation("/api/v1/suggestions"), "@1621123200")
      assert.strictEqual(yield* deprecation("/api/v1/trends"), "@1648598400")
      assert.strictEqual(yield* deprecation("/api/v2/filters"), null)
    }))

  it.effect("S-302 S-303 S-304 S-305 S-015: removed routes return 404", () =>
    Effect.gen(function*() {
      const bearer = yield* issueToken(yield* person("gerd"))
      const gone = [
        "/api/v1/search?q=x",
        "/api/v1/statuses/1/card",
        "/api/v1/timelines/direct",
        "/api/salmon/1",
        "/api/push",
        "/api/subscriptions/1"
      ]
      for (const path of gone) {
        const { body, status } = yield* get(path, bearer)
        assert.deepStrictEqual([status, body.error], [404, "Not Found"], path)
        assert.strictEqual((yield* callRoute("POST", path, bearer)).status, 404, path)
      }
    }))
})
