import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../support/Eventually.ts"
import { TestServer } from "../support/Server.ts"
import { call, get, post } from "./Calls.ts"

/** Returns one character of about this many bytes. */
const one = (bytes: number) => `a${"\u0301".repeat(bytes / 2)}`

layer(TestServer.layer(), { excludeTestServices: true })("texts of users", (it) => {
  it.effect("F13: one character of many bytes is refused in every field, however characters are counted", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      const huge = one(200_000)
      const profile = (json: unknown) => call("PATCH", "/api/v1/accounts/update_credentials", ada, json)
      const options = (name: string) => ({ status: "?", poll: { options: ["yes", name], expires_in: 3600 } })
      const tries: ReadonlyArray<
        readonly [string, Effect.Effect<{ status: number; text: string }, never, TestServer>]
      > = [
        ["display name", profile({ display_name: huge })],
        ["note", profile({ note: huge })],
        ["avatar's words", profile({ avatar_description: huge })],
        ["header's words", profile({ header_description: huge })],
        ["field's name", profile({ fields_attributes: { 0: { name: huge, value: "v" } } })],
        ["field's value", profile({ fields_attributes: { 0: { name: "n", value: huge } } })],
        ["attribution domain", profile({ attribution_domains: [huge] })],
        ["default language", profile({ source: { language: `en-${"a".repeat(200)}` } })],
        ["text", post("/api/v1/statuses", ada, { status: huge })],
        ["content warning", post("/api/v1/statuses", ada, { status: "x", spoiler_text: huge })],
        ["HTML", post("/api/v1/statuses", ada, { status: `https://a.example/${"a".repeat(2_000)} `.repeat(20) })],
        ["language", post("/api/v1/statuses", ada, { status: "x", language: "a".repeat(100_000) })],
        ["poll option", post("/api/v1/statuses", ada, options(huge))],
        ["languages", post(`/api/v1/accounts/${bob.accountId}/follow`, ada, { languages: [huge] })],
        [
          "many languages",
          post(`/api/v1/accounts/${bob.accountId}/follow`, ada, { languages: Array(999).fill("en") })
        ],
        ["comment of a report", post("/api/v1/reports", ada, { account_id: String(bob.accountId), comment: huge })],
        ["note on somebody", post(`/api/v1/accounts/${bob.accountId}/note`, ada, { comment: huge })],
        ["app's name", post("/api/v1/apps", ada, { client_name: huge, redirect_uris: "urn:ietf:wg:oauth:2.0:oob" })],
        ["featured hashtag", post("/api/v1/featured_tags", ada, { name: huge })],
        ["collection's name", post("/api/v1/collections", ada, { name: huge })],
        ["collection's description", post("/api/v1/collections", ada, { name: "n", description: huge })],
        ["collection's hashtag", post("/api/v1/collections", ada, { name: "n", tag_name: huge })],
        ["list's title", post("/api/v1/lists", ada, { title: huge })],
        ["filter's title", post("/api/v2/filters", ada, { title: huge, context: ["home"] })],
        ["filter's keyword", post("/api/v1/filters", ada, { phrase: huge, context: ["home"] })],
        ["draft's text", post("/api/v1/drafts", ada, { status: huge })],
        ["blocked domain", post("/api/v1/domain_blocks", ada, { domain: huge })]
      ]
      for (const [what, attempt] of tries) {
        const { status, text } = yield* attempt
        assert.strictEqual(status, 422, `${what}: ${status} ${text.slice(0, 200)}`)
        // Collections add details.
        assert.match(text, /^\{"error":(?:\{"error":)?"\w+/, what)
        assert.isBelow(text.length, 1_000, what)
      }
      const { text } = yield* get(`/api/v1/accounts/${ada.accountId}`)
      assert.isBelow(text.length, 4_000)
    }))

  it.effect("F13: ordinary texts fit, and an invalid language is ignored", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const cleo = yield* createPerson("cleo")
      const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}"
      const named = yield* call("PATCH", "/api/v1/accounts/update_credentials", cleo, {
        display_name: family.repeat(40),
        note: "\u4e2d".repeat(500),
        fields_attributes: { 0: { name: "\u4e2d".repeat(255), value: "\u{1f600}".repeat(255) } }
      })
      assert.strictEqual(named.status, 200, named.text)
      const posted = yield* post("/api/v1/statuses", cleo, {
        status: family.repeat(500),
        language: "en_US",
        poll: { options: [family.repeat(50), "\u4e2d".repeat(50)], expires_in: 3600 }
      })
      assert.strictEqual(posted.status, 200, posted.text)
      for (const [language, expected] of [["zh-Hant-TW", "zh-Hant-TW"], ["english", "en"], ["de", "de"]] as const) {
        const { body } = yield* post("/api/v1/statuses", cleo, { status: language, language })
        assert.strictEqual(body.language, expected)
      }
    }))

  it.effect("F20: if nothing can be written, as on a full disk, reads continue and writes are to be retried", () =>
    Effect.gen(function*() {
      const { createPerson, createToken } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const [dora, emil] = [yield* createPerson("dora"), yield* createPerson("emil")]
      yield* post(`/api/v1/accounts/${dora.accountId}/follow`, emil)
      const { body: { id } } = yield* post("/api/v1/statuses", dora, { status: "@emil read me #kept" })
      yield* eventually(get("/api/v1/notifications", emil), ({ body }) => body.length === 1)
      // An unused token, whose first use would be recorded.
      const fresh = { token: yield* createToken(emil.accountId, ["read"]) }
      const [row] = yield* sql<{ name: string }>`SELECT current_database() AS name`
      const name = row?.name ?? ""
      const set = Effect.fnUntraced(function*(to: "on" | "off") {
        // One connection for all statements: it is excluded below, and needs the new setting itself.
        const connection = yield* sql.reserve
        const execute = (text: string) => connection.executeUnprepared(text, [], undefined)
        yield* execute("SET default_transaction_read_only = off")
        yield* execute(`ALTER DATABASE "${name}" SET default_transaction_read_only = ${to}`)
        yield* execute(`SET default_transaction_read_only = ${to}`)
        yield* execute(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`
        )
      }, Effect.scoped)
      yield* set("on")
      const paths = [
        "/api/v1/timelines/home",
        "/api/v1/timelines/public",
        "/api/v1/timelines/tag/kept",
        "/api/v1/notifications",
        "/api/v2/notifications",
        "/api/v1/accounts/verify_credentials",
        `/api/v1/accounts/${dora.accountId}`,
        `/api/v1/accounts/${dora.accountId}/statuses`,
        `/api/v1/statuses/${id}`,
        `/api/v1/statuses/${id}/context`,
        "/api/v1/conversations",
        "/api/v1/bookmarks",
        "/api/v2/search?q=dora",
        "/api/v2/instance",
        "/@dora",
        `/@dora/${id}`,
        "/users/dora",
        "/"
      ]
      yield* eventually(get("/api/v1/timelines/home", fresh), ({ status }) => status === 200)
      for (const path of paths) {
        for (const by of [fresh, emil]) {
          const { status, text } = yield* get(path, by)
          assert.strictEqual(status, 200, `${path} ${text.slice(0, 200)}`)
        }
      }
      for (const path of ["/api/v1/statuses", `/api/v1/statuses/${id}/favourite`, `/api/v1/statuses/${id}/bookmark`]) {
        const { status, text } = yield* post(path, emil, { status: "write me" })
        assert.strictEqual(status, 503, `${path} ${text}`)
      }
      yield* set("off")
      yield* eventually(post(`/api/v1/statuses/${id}/favourite`, emil), ({ status }) => status === 200)
    }))
})
