import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "../../../src/http/guard/Limits.ts"
import { ask, publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"

layer(TestServer.layer({ RATE_LIMITS: "on" }), { excludeTestServices: true })(
  "limits of actions in the web client",
  (it) => {
    it.effect("F228: deleting posts, undoing boosts and redrafting count as in the API", () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson } = yield* TestServer
        const ada = yield* createPerson("ada")
        const id = yield* publishedId(ada, "The last one")
        const browser = yield* staffBrowser(ada)
        const form = formsOf(yield* browser.get("/home")).find(({ action }) => action.startsWith("/web/statuses/"))
        const press = (path: string, fields: Record<string, string>) =>
          browser.request(path, {
            method: "POST",
            body: new URLSearchParams({ ...form?.fields, ...fields }),
            headers: { origin: baseUrl, "x-murmuration-part": "status" }
          })
        const { uses } = limits.deletion
        // Uses of the API and of the web are counted together.
        for (let used = 0; used < uses; used++) {
          const { status } = used % 2 === 0
            ? yield* ask(ada, "POST", `/api/v1/statuses/${id}/unreblog`)
            : yield* press(`/web/statuses/${id}`, { act: "unreblog" })
          assert.notStrictEqual(status, 429, String(used))
        }
        for (const act of ["unreblog", "delete"]) {
          assert.strictEqual((yield* press(`/web/statuses/${id}`, { act })).status, 429, act)
        }
        assert.strictEqual((yield* press("/web/compose/redraft", { id })).status, 429)
        assert.strictEqual((yield* ask(ada, "GET", `/api/v1/statuses/${id}`)).status, 200)
        assert.strictEqual((yield* press(`/web/statuses/${id}`, { act: "favourite" })).status, 200)
      }))

    it.effect("F228: e-mails to a new address are limited per user", () =>
      Effect.gen(function*() {
        const bob = yield* (yield* TestServer).createPerson("bob")
        const browser = yield* staffBrowser(bob)
        const page = yield* browser.get("/settings/account")
        const index = formsOf(page).findIndex(({ action }) => action === "/settings/account/email")
        const statuses = yield* Effect.forEach(
          Array.from({ length: limits.confirmationUser.uses + 1 }),
          (_, at) =>
            Effect.map(
              browser.submit(page, { email: `new${at}@mail.example`, password: bob.password }, index),
              ({ status }) => status
            )
        )
        assert.deepStrictEqual(statuses.slice(0, -1), Array.from({ length: limits.confirmationUser.uses }, () => 302))
        assert.strictEqual(statuses.at(-1), 429)
      }))
  }
)
