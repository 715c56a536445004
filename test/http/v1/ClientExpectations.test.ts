import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { call, newPerson, sendPost } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })("expectations of clients", (it) => {
  it.effect("F86: the author's own name in a post is a mention, without a notification", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("selfnaming"), yield* newPerson("selfnamed2")]
      type Named = { readonly mentions: ReadonlyArray<{ readonly acct: string }> }
      const names = ({ body }: { readonly body: Named }) => body.mentions.map(({ acct }) => acct).toSorted()
      for (const visibility of ["public", "private", "direct"]) {
        const posted = yield* sendPost(ada, { status: "I, @selfnaming, with @selfnamed2", visibility })
        assert.deepStrictEqual(names(posted), ["selfnamed2", "selfnaming"])
        const path = `/api/v1/statuses/${posted.body.id}`
        assert.deepStrictEqual(names(yield* call("GET", path, bob.token)), ["selfnamed2", "selfnaming"])
        const edited = yield* call("PUT", path, ada.token, { status: "only @selfnaming" })
        assert.deepStrictEqual(names(edited), ["selfnaming"])
      }
      yield* eventually(
        Effect.map(call("GET", "/api/v1/notifications", bob.token), ({ body }) => body.length),
        (count) => count === 2
      )
      assert.deepStrictEqual((yield* call("GET", "/api/v1/notifications", ada.token)).body, [])
      const { body: threads } = yield* call("GET", "/api/v1/conversations", ada.token)
      assert.deepStrictEqual(
        threads.map(({ accounts }: { readonly accounts: ReadonlyArray<{ readonly acct: string }> }) =>
          accounts.map(({ acct }) => acct)
        ),
        [["selfnamed2"]]
      )
    }))

  it.effect("F93: a post with an invalid date is refused as an invalid record", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("scheduling")
      const { body, status } = yield* sendPost(ada, { status: "later", scheduled_at: "banana" })
      assert.deepStrictEqual([status, body], [422, { error: "Record invalid" }])
    }))

  it.effect("F96, D-015: languages are stored as tags, in any case and with any separator", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("polyglot")
      const storedLanguage = (language: string) =>
        Effect.map(sendPost(ada, { status: "Hallo", language }), ({ body }) => body.language)
      assert.strictEqual(yield* storedLanguage("DE"), "de")
      assert.strictEqual(yield* storedLanguage("pt_br"), "pt-BR")
      assert.strictEqual(yield* storedLanguage("zh-hant-TW"), "zh-Hant-TW")
      assert.strictEqual(yield* storedLanguage("no language"), "en")
      const { body } = yield* call("PATCH", "/api/v1/accounts/update_credentials", ada.token, {
        source: { language: "PT_br" }
      })
      assert.strictEqual(body.source.language, "pt-BR")
      const { body: instance } = yield* call("GET", "/api/v2/instance", undefined)
      assert.match(instance.version, /^4\.7\.0\+murmuration-\d+\.\d+\.\d+$/)
    }))

  it.effect("F105: the voter's own votes are in the order in which they were cast", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("asker105"), yield* newPerson("voter105")]
      const { body: { id, poll } } = yield* sendPost(ada, {
        status: "?",
        poll: { options: ["a", "b", "c", "d"], expires_in: 3_600, multiple: true }
      })
      const vote = (...choices: ReadonlyArray<number>) =>
        call("POST", `/api/v1/polls/${poll.id}/votes`, bob.token, { choices })
      assert.deepStrictEqual((yield* vote(3, 0)).body.own_votes, [3, 0])
      assert.deepStrictEqual((yield* vote(2)).body.own_votes, [3, 0, 2])
      assert.deepStrictEqual((yield* call("GET", `/api/v1/statuses/${id}`, bob.token)).body.poll.own_votes, [3, 0, 2])
    }))

  it.effect("F105: the language of errors comes from the body, else the query, else the user, else the browser", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const ada = yield* newPerson("speaking")
      const sql = yield* SqlClient.SqlClient
      const refused = (language: string, init: { readonly query?: string; readonly lang?: string }) =>
        Effect.promise(async () => {
          const response = await fetch(`${baseUrl}/api/v1/statuses${init.query ?? ""}`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${ada.token}`,
              "accept-language": language,
              "content-type": "application/json"
            },
            body: JSON.stringify({ status: "", ...(init.lang !== undefined && { lang: init.lang }) })
          })
          return response.headers.get("content-language") ?? "en"
        })
      assert.strictEqual(yield* refused("de", {}), "de")
      assert.strictEqual(yield* refused("de", { lang: "fr" }), "fr")
      assert.strictEqual(yield* refused("de", { query: "?lang=ja" }), "ja")
      assert.strictEqual(yield* refused("de", { query: "?lang=ja", lang: "fr" }), "fr")
      yield* sql`UPDATE users SET locale = 'es' WHERE account_id = ${ada.accountId}`
      const bob = yield* newPerson("speaking2")
      yield* sql`UPDATE users SET locale = 'es' WHERE account_id = ${bob.accountId}`
      const missing = (query = "") =>
        Effect.promise(async () => {
          const response = await fetch(`${baseUrl}/api/v1/statuses/1${query}`, {
            headers: { authorization: `Bearer ${bob.token}`, "accept-language": "de" }
          })
          return response.headers.get("content-language")
        })
      assert.strictEqual(yield* missing(), "es")
      assert.strictEqual(yield* missing("?lang=fr"), "fr")
    }))
})
