import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, idsOf, newPerson, settled } from "../../support/Api.ts"
import { follow } from "../../support/ListCalls.ts"
import { decodeStatus as decode, post, quoting, show } from "../../support/QuoteCalls.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })(
  "permissions to quote, and to read quotes",
  (it) => {
    it.effect("row 21: the quote policy is set with the post, by default, later and by an edit; a non-public post cannot be quoted by others", () =>
      Effect.gen(function*() {
        const [anna, ben] = [yield* newPerson("anna5"), yield* newPerson("ben5")]
        const one = yield* post(anna, "one")
        const set = (id: string, policy: unknown, method = "PUT", by = anna) =>
          ask(by, method, `/api/v1/statuses/${id}/interaction_policy`, { quote_approval_policy: policy })
        assert.deepStrictEqual((yield* set(one.id, "followers")).body.quote_approval.automatic, ["followers"])
        assert.deepStrictEqual((yield* set(one.id, "nobody", "PATCH")).body.quote_approval.automatic, [])
        assert.strictEqual((yield* set(one.id, "nobody", "PUT", ben)).status, 404)
        for (const policy of ["everybody", "", null, 7, ["public"], { a: 1 }]) {
          assert.strictEqual((yield* set(one.id, policy)).status, 422, JSON.stringify(policy))
        }
        const edited = yield* ask(anna, "PUT", `/api/v1/statuses/${one.id}`, {
          status: "one",
          quote_approval_policy: "public"
        })
        assert.deepStrictEqual((yield* decode(edited.body)).quote_approval.automatic, ["public"])
        assert.isNull(edited.body.edited_at)
        const secret = yield* post(anna, "two", { visibility: "private", quote_approval_policy: "public" })
        assert.deepStrictEqual((yield* set(secret.id, "public")).body.quote_approval, {
          automatic: [],
          manual: [],
          current_user: "automatic"
        })
        yield* ask(anna, "PATCH", "/api/v1/accounts/update_credentials", { source: { quote_policy: "nobody" } })
        assert.deepStrictEqual((yield* post(anna, "three")).quote_approval.automatic, [])
        assert.deepStrictEqual(
          (yield* post(anna, "four", { quote_approval_policy: "public" })).quote_approval.automatic,
          ["public"]
        )
        const { body: waiting } = yield* ask(ben, "POST", "/api/v1/statuses", {
          status: "later",
          quoted_status_id: one.id,
          quote_approval_policy: "followers",
          scheduled_at: "2099-01-01T00:00:00Z"
        })
        assert.deepInclude(waiting.params, { quoted_status_id: one.id, quote_approval_policy: "followers" })
      }))

    it.effect("a hide filter that matches a quoted post hides the quote, a warn filter is shown on the quoted post; invisible posts never match", () =>
      Effect.gen(function*() {
        const [anna, ben, cleo] = [yield* newPerson("anna6"), yield* newPerson("ben6"), yield* newPerson("cleo6")]
        yield* follow(ben, cleo)
        const quoted = yield* post(anna, "about spiders")
        const one = yield* quoting(cleo, quoted)
        yield* settled
        const filter = (action: string, words: string) =>
          ask(ben, "POST", "/api/v2/filters", {
            title: words,
            context: ["home"],
            filter_action: action,
            keywords_attributes: [{ keyword: words, whole_word: true }]
          })
        const { body: warning } = yield* filter("warn", "spiders")
        const shown = yield* show(ben, one)
        assert.deepStrictEqual(shown.filtered, [])
        assert.deepStrictEqual(shown.quote?.quoted_status?.filtered?.map(({ keyword_matches }) => keyword_matches), [[
          "spiders"
        ]])
        yield* ask(ben, "DELETE", `/api/v2/filters/${warning.id}`)
        yield* filter("hide", "spiders")
        assert.notInclude(yield* idsOf(ben, "/api/v1/timelines/home"), one.id)
        assert.include(yield* idsOf(cleo, "/api/v1/timelines/home"), one.id)
        yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/block`)
        assert.include(yield* idsOf(ben, "/api/v1/timelines/home"), one.id)
      }))
  }
)
