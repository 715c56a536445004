import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { routes } from "../../../src/http/v1/placeholders/routes.ts"
import { grants } from "../../../src/services/oauth/Scopes.ts"
import { person } from "../../support/People.ts"
import { get, send } from "../../support/Requests.ts"
import { token } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const everything = ["read", "write", "follow", "push", "profile"]

const call = (method: string, path: string, bearer?: string) =>
  send(path.replaceAll(/:[a-z_]+/g, "1"), {
    method,
    ...(bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } })
  })

const operations = routes.flatMap((route) => route.methods.map((method) => ({ ...route, method })))

layer(server(), { excludeTestServices: true })("what comes later", (it) => {
  it.effect("every operation answers its true state, with a value of its schema, or says in words what is not there", () =>
    Effect.gen(function*() {
      const bearer = yield* token(yield* person("anna"), everything)
      for (const { method, path, success } of operations) {
        const { body, status, text } = yield* call(method, path, bearer)
        const where = `${method} ${path}: ${status} ${text}`
        if (status === 200) {
          if (method === "GET") yield* Schema.decodeUnknownEffect(Schema.toEncoded(success))(body)
          else assert.deepStrictEqual(body, {}, where)
        } else if (status !== 204) {
          assert.include([404, 422], status, where)
          assert.match(body.error, status === 404 ? /^Record not found$/ : /^This server cannot [a-z ]+ yet$/, where)
        }
      }
    }))

  it.effect("a change is never taken in silence", () =>
    Effect.gen(function*() {
      const bearer = yield* token(yield* person("ben"), everything)
      for (const { method, path } of operations) {
        // Nothing is subscribed, so nothing is what apps delete when they sign out.
        if (method === "GET" || path === "/api/v1/push/subscription") continue
        assert.include([404, 422], (yield* call(method, path, bearer)).status, `${method} ${path}`)
      }
    }))

  it.effect("row 65 row 69: without a user, or without one of the scopes, each is refused", () =>
    Effect.gen(function*() {
      const anna = yield* person("carla")
      const scopes = ["read:statuses", "read:lists", "write:lists", "write:filters", "push", "follow"]
      const tokens = new Map<string, string>()
      for (const scope of scopes) tokens.set(scope, yield* token(anna, [scope]))
      for (const { access, method, path } of operations) {
        if (access.who === "user") assert.strictEqual((yield* call(method, path)).status, 401, `${method} ${path}`)
        if (access.scopes.length === 0) continue
        for (const [scope, bearer] of tokens) {
          const { status } = yield* call(method, path, bearer)
          const allowed = grants(new Set([scope]), access.scopes)
          assert.strictEqual(status === 403, !allowed, `${method} ${path} with ${scope}: ${status}`)
        }
      }
    }))

  it.effect("what apps read at their start: lists [], announcements [], no push subscription", () =>
    Effect.gen(function*() {
      const bearer = yield* token(yield* person("dana"), everything)
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

  it.effect("S-307 S-308: older forms say since when they are deprecated", () =>
    Effect.gen(function*() {
      const bearer = yield* token(yield* person("frida"))
      const deprecation = (path: string) => Effect.map(get(path, bearer), ({ headers }) => headers.get("deprecation"))
      assert.strictEqual(yield* deprecation("/api/v1/suggestions"), "@1621123200")
      assert.strictEqual(yield* deprecation("/api/v1/trends"), "@1648598400")
      assert.strictEqual(yield* deprecation("/api/v2/filters"), null)
    }))

  it.effect("S-302 S-303 S-304 S-305 S-015: what is gone is gone", () =>
    Effect.gen(function*() {
      const bearer = yield* token(yield* person("gerd"))
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
        assert.strictEqual((yield* call("POST", path, bearer)).status, 404, path)
      }
    }))
})

layer(server({ limitedFederation: true }), { excludeTestServices: true })("what comes later, restricted", (it) => {
  it.effect("row 68: nothing of it is open to strangers", () =>
    Effect.gen(function*() {
      for (const { method, path } of operations) {
        assert.strictEqual((yield* call(method, path)).status, 401, `${method} ${path}`)
      }
    }))
})
