import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../src/services/database/Transactions.ts"
import { routes } from "../../safety/Routes.ts"
import { call, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })("separate rules", (it) => {
  it.effect("S-067: a followers-only post is pinned, and its pin is visible only to them", () =>
    Effect.gen(function*() {
      const [anna, ben, cora] = [yield* newPerson("anna"), yield* newPerson("ben"), yield* newPerson("cora")]
      yield* call("POST", `/api/v1/accounts/${anna.accountId}/follow`, ben.token)
      const { id } = yield* publish(anna, "for followers", { visibility: "private" })
      const pinned = yield* call("POST", `/api/v1/statuses/${id}/pin`, anna.token)
      assert.deepStrictEqual([pinned.status, pinned.body.pinned], [200, true])
      const shown = (by?: string) =>
        Effect.map(
          call("GET", `/api/v1/accounts/${anna.accountId}/statuses?pinned=true`, by),
          ({ body }) => body.map((status: { id: string }) => status.id)
        )
      assert.deepStrictEqual(yield* shown(ben.token), [id])
      assert.deepStrictEqual(yield* shown(anna.token), [id])
      assert.deepStrictEqual(yield* shown(cora.token), [])
      assert.deepStrictEqual(yield* shown(), [])
    }))

  it.effect("S-125: caches store no response of REST or NodeInfo, for any caller and outcome", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const dora = yield* newPerson("dora")
      const paths = routes.filter(({ method, path }) => method === "GET" && path.startsWith("/api/")).map(({ path }) =>
        path.replaceAll(/:\w+/g, "1")
      )
      assert.isAbove(paths.length, 100)
      for (const path of [...paths, "/nodeinfo/2.0", "/api/v1/nothing"]) {
        for (const token of [undefined, dora.token]) {
          const response = yield* fetch(path, token === undefined ? {} : { token })
          yield* Effect.promise(() => response.body?.cancel() ?? Promise.resolve())
          assert.strictEqual(response.headers.get("cache-control"), "private, no-store", `${path} ${response.status}`)
        }
      }
    }))

  it.effect("S-250: a poll of a non-public post needs a viewer with access to it", () =>
    Effect.gen(function*() {
      const [emil, fay] = [yield* newPerson("emil"), yield* newPerson("fay")]
      const poll = { options: ["a", "b"], expires_in: 3_600 }
      for (const visibility of ["public", "unlisted", "private", "direct"]) {
        const { poll: { id } } = yield* publish(emil, "which?", { poll, visibility })
        const statuses = []
        for (const token of [undefined, fay.token, emil.token]) {
          statuses.push((yield* call("GET", `/api/v1/polls/${id}`, token)).status)
        }
        const open = visibility === "public" || visibility === "unlisted"
        assert.deepStrictEqual(statuses, open ? [200, 200, 200] : [404, 404, 200], visibility)
      }
    }))

  it.effect("S-266: a boost gets its response before its author is notified", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [gina, hugo] = [yield* newPerson("gina"), yield* newPerson("hugo")]
      const { id } = yield* publish(gina, "boost me")
      // Blocks notification writes in the meantime.
      yield* transaction(sql)(Effect.gen(function*() {
        yield* sql`LOCK TABLE notifications IN SHARE MODE`
        const { body, status } = yield* call("POST", `/api/v1/statuses/${id}/reblog`, hugo.token)
        assert.deepStrictEqual([status, body.reblog.id], [200, id])
      }))
      const types = Effect.map(
        call("GET", "/api/v1/notifications", gina.token),
        ({ body }) => body.map(({ type }: { type: string }) => type)
      )
      yield* eventually(types, (found) => String(found) === "reblog")
    }))

  it.effect("S-273: accounts without an ActivityPub actor cannot be followed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const iris = yield* newPerson("iris")
      const at = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO accounts (id, username, domain, created_at, updated_at)
        VALUES (77, 'legacy', 'old.example', ${at}, ${at})`
      yield* sql`INSERT INTO account_stats (account_id) VALUES (77)`
      const { body, status } = yield* call("POST", "/api/v1/accounts/77/follow", iris.token)
      assert.deepStrictEqual([status, body], [403, { error: "This action is not allowed" }])
      const { body: [relation] } = yield* call("GET", "/api/v1/accounts/relationships?id[]=77", iris.token)
      assert.deepInclude(relation, { following: false, requested: false })
    }))

  it.effect("S-280: an empty source is accepted, and changes nothing", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const jan = yield* newPerson("jan")
      const path = "/api/v1/accounts/update_credentials"
      const before = yield* call("PATCH", path, jan.token, { source: { privacy: "unlisted", language: "de" } })
      for (const source of ["", null, {}]) {
        const { body, status } = yield* call("PATCH", path, jan.token, { source })
        assert.deepStrictEqual([status, body.source], [200, before.body.source])
      }
      const form = yield* fetch(path, { method: "PATCH", token: jan.token, body: new URLSearchParams("source=") })
      assert.strictEqual(form.status, 200)
    }))

  it.effect("S-297: a biography, a post, a poll and its files are bounded, and refusals change nothing", () =>
    Effect.gen(function*() {
      const kim = yield* newPerson("kim")
      const refused = (method: string, path: string, body: Record<string, unknown>) =>
        Effect.map(call(method, path, kim.token, body), ({ status }) => assert.strictEqual(status, 422, path))
      const profile = "/api/v1/accounts/update_credentials"
      yield* refused("PATCH", profile, { note: "x".repeat(501) })
      yield* refused("PATCH", profile, { display_name: "x".repeat(41) })
      const statuses = "/api/v1/statuses"
      yield* refused("POST", statuses, { status: "x".repeat(501) })
      yield* refused("POST", statuses, { status: "x", spoiler_text: "x".repeat(500) })
      const options = (count: number, text: string) => ({ options: Array.from({ length: count }, (_, n) => text + n) })
      yield* refused("POST", statuses, { status: "x", poll: { ...options(5, "a"), expires_in: 3_600 } })
      yield* refused("POST", statuses, { status: "x", poll: { ...options(2, "x".repeat(50)), expires_in: 3_600 } })
      yield* refused("POST", statuses, { status: "x", poll: { ...options(2, "a"), expires_in: 299 } })
      yield* refused("POST", statuses, { status: "x", media_ids: ["1", "2", "3", "4", "5"] })
      const apps = "/api/v1/apps"
      const app = { client_name: "x", redirect_uris: "https://app.example/" }
      yield* refused("POST", apps, { ...app, client_name: "x".repeat(61) })
      yield* refused("POST", apps, { ...app, website: `https://app.example/${"x".repeat(2_001)}` })
      yield* refused("POST", apps, { ...app, redirect_uris: `https://app.example/${"x".repeat(2_001)}` })
      const { body } = yield* call("GET", `/api/v1/accounts/${kim.accountId}`, undefined)
      assert.deepStrictEqual([body.note, body.statuses_count], ["", 0])
    }))
})
