import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Filter, FilterKeyword, FilterV1 } from "../../../src/http/wire/Filter.ts"
import { call } from "../../support/Api.ts"
import { filter, filtersPath, newPerson } from "../../support/Filtering.ts"
import { TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => Schema.decodeUnknownEffect(schema, strict)

layer(TestServer.layer(), { excludeTestServices: true })("filters", (it) => {
  it.effect("S-081 S-082 S-083 S-152: a filter with its keywords is created, read, changed and removed", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson
      const other = yield* newPerson
      const created = yield* filter(ada, {
        title: "Spoilers",
        context: ["home", "public"],
        filter_action: "hide",
        expires_in: 3600,
        keywords_attributes: [{ keyword: "ending", whole_word: false }, { keyword: "Who did it?" }]
      })
      assert.deepStrictEqual(created.keywords?.map(({ keyword, whole_word }) => [keyword, whole_word]), [
        ["ending", false],
        ["Who did it?", true]
      ])
      assert.deepStrictEqual([created.title, created.context, created.filter_action, created.statuses], [
        "Spoilers",
        ["home", "public"],
        "hide",
        []
      ])
      assert.approximately(Date.parse(created.expires_at!) - Date.now(), 3_600_000, 60_000)
      assert.deepStrictEqual((yield* call("GET", `${filtersPath}/${created.id}`, ada.token)).body, created)
      assert.deepStrictEqual((yield* call("GET", filtersPath, ada.token)).body, [created])
      assert.deepStrictEqual((yield* call("GET", filtersPath, other.token)).body, [])

      const [ending, who] = created.keywords!
      const changed = yield* call("PUT", `${filtersPath}/${created.id}`, ada.token, {
        title: "Endings",
        expires_in: "",
        keywords_attributes: {
          0: { id: ending!.id, keyword: "the end", whole_word: true },
          1: { id: who!.id, _destroy: "1" },
          2: { keyword: "fin" },
          3: { keyword: "" }
        }
      })
      const second = yield* decode(Filter)(changed.body)
      assert.deepStrictEqual([second.title, second.expires_at, second.context], ["Endings", null, ["home", "public"]])
      assert.deepStrictEqual(second.keywords?.map(({ keyword }) => keyword), ["the end", "fin"])
      assert.strictEqual(second.keywords?.[0]?.id, ending!.id)

      // Another user's filter is 404, and the change has no partial effect.
      const foreign = yield* filter(other, { keywords_attributes: [{ keyword: "mine" }] })
      const theft = { title: "stolen", keywords_attributes: [{ id: foreign.keywords![0]!.id, keyword: "stolen" }] }
      assert.strictEqual((yield* call("PUT", `${filtersPath}/${created.id}`, ada.token, theft)).status, 404)
      for (const method of ["GET", "PUT", "DELETE"]) {
        assert.strictEqual(
          (yield* call(method, `${filtersPath}/${foreign.id}`, ada.token, method === "GET" ? undefined : {})).status,
          404
        )
      }
      assert.deepStrictEqual((yield* call("GET", filtersPath, ada.token)).body, [second])
      assert.deepStrictEqual((yield* call("GET", filtersPath, other.token)).body, [foreign])
      assert.deepStrictEqual((yield* call("DELETE", `${filtersPath}/${created.id}`, ada.token)).body, {})
      assert.strictEqual((yield* call("GET", `${filtersPath}/${created.id}`, ada.token)).status, 404)
    }))

  it.effect("S-081 S-086 row 39: an invalid filter is refused with a message", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson
      const refusal = (body: Record<string, unknown>) =>
        Effect.map(call("POST", filtersPath, ada.token, body), ({ body, status }) => `${status} ${body.error}`)
      const good = { title: "a", context: ["home"] }
      assert.strictEqual(
        yield* refusal({}),
        "422 Validation failed: Title can't be blank, Context can't be blank, Context None or invalid context supplied"
      )
      assert.strictEqual(
        yield* refusal({ title: "a", context: ["home", "elsewhere"] }),
        "422 Validation failed: Context None or invalid context supplied"
      )
      assert.strictEqual(
        yield* refusal({ ...good, filter_action: "explode" }),
        "422 Validation failed: Filter action is not included in the list"
      )
      const long = (length: number) => "😀".repeat(length)
      assert.strictEqual(
        yield* refusal({ ...good, title: long(257) }),
        "422 Validation failed: Title is too long (maximum is 256 characters)"
      )
      const keyword = (keyword: string) => ({ ...good, keywords_attributes: [{ keyword, whole_word: true }] })
      for (const blank of ["", "  ", "\u200B"]) {
        assert.strictEqual(yield* refusal(keyword(blank)), "422 Validation failed: Keyword can't be blank")
      }
      for (const tooLong of [long(513), "\uFDFA".repeat(512)]) {
        assert.strictEqual(
          yield* refusal(keyword(tooLong)),
          "422 Validation failed: Keyword is too long (maximum is 512 characters)"
        )
      }
      const many = (count: number, length: number) => ({
        ...good,
        keywords_attributes: Array.from({ length: count }, (_, at) => ({ keyword: String(at).padEnd(length, "x") }))
      })
      assert.include(yield* refusal(many(250, 500)), "Keywords are too many")
      assert.deepStrictEqual((yield* call("GET", filtersPath, ada.token)).body, [])
      assert.strictEqual((yield* call("POST", filtersPath, ada.token, { ...good, title: long(256) })).status, 200)
      assert.strictEqual((yield* call("POST", filtersPath, ada.token, keyword(long(512)))).status, 200)
      // An invalid time means no expiry, and times are bounded.
      const far = yield* filter(ada, { expires_in: 9e15 })
      assert.match(far.expires_at!, /^2[01]\d\d-/)
      assert.strictEqual((yield* filter(ada, { expires_in: "soon" })).expires_at, null)
      for (const id of ["0", "9223372036854775807", "99999999999999999999", "x"]) {
        assert.strictEqual((yield* call("GET", `${filtersPath}/${id}`, ada.token)).status, 404)
        assert.strictEqual((yield* call("PUT", `${filtersPath}/keywords/${id}`, ada.token, {})).status, 404)
      }
    }))

  it.effect("S-082 S-153 S-154 S-179: keywords singly, under both paths", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson
      const { id } = yield* filter(ada, { keywords_attributes: [{ keyword: "one" }] })
      const second = yield* call("POST", `${filtersPath}/${id}/keywords`, ada.token, {
        keyword: "two",
        whole_word: "false"
      })
      yield* decode(FilterKeyword)(second.body)
      assert.deepStrictEqual([second.body.keyword, second.body.whole_word], ["two", false])
      const blank = yield* call("POST", `${filtersPath}/${id}/keywords`, ada.token, {})
      assert.strictEqual(blank.body.error, "Validation failed: Keyword can't be blank")
      const other = yield* filter(ada, { keywords_attributes: [{ keyword: "three" }] })
      const words = (list: string) =>
        Effect.map(
          call("GET", list, ada.token),
          ({ body }) => body.map(({ keyword }: { readonly keyword: string }) => keyword)
        )
      assert.deepStrictEqual(yield* words(`${filtersPath}/${id}/keywords`), ["one", "two"])
      assert.deepStrictEqual(yield* words(`${filtersPath}/keywords`), ["one", "two", "three"])
      assert.deepStrictEqual(yield* words("/api/v1/filters/keywords"), ["one", "two", "three"])
      for (const [version, method] of [["v1", "PUT"], ["v2", "PATCH"]] as const) {
        const one = `/api/${version}/filters/keywords/${other.keywords![0]!.id}`
        assert.strictEqual((yield* call(method, one, ada.token, { keyword: `drei ${version}` })).body.whole_word, true)
        assert.strictEqual((yield* call("GET", one, ada.token)).body.keyword, `drei ${version}`)
        assert.strictEqual((yield* call("PUT", one, ada.token, { keyword: " " })).status, 422)
      }
      const gone = `/api/v1/filters/keywords/${second.body.id}`
      assert.deepStrictEqual((yield* call("DELETE", gone, ada.token)).body, {})
      assert.strictEqual((yield* call("GET", gone, ada.token)).status, 404)
      assert.deepStrictEqual(yield* words(`${filtersPath}/${id}/keywords`), ["one"])
    }))

  it.effect("S-004 S-080 S-151 S-307: the first version, one filter per keyword", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson
      const created = yield* call("POST", "/api/v1/filters", ada.token, {
        phrase: "cats",
        context: ["home", "thread"],
        irreversible: "true",
        whole_word: "false",
        expires_in: 60
      })
      const first = yield* decode(FilterV1)(created.body)
      assert.strictEqual(created.headers.get("deprecation"), "@1668384000")
      assert.deepStrictEqual([first.phrase, first.context, first.whole_word, first.irreversible], [
        "cats",
        ["home", "thread"],
        false,
        true
      ])
      const [whole] = yield* decode(Schema.Array(Filter))((yield* call("GET", filtersPath, ada.token)).body)
      assert.deepStrictEqual([whole!.title, whole!.filter_action, whole!.keywords![0]!.id], ["cats", "hide", first.id])
      const one = `/api/v1/filters/${first.id}`
      const changed = yield* call("PUT", one, ada.token, { phrase: "dogs", irreversible: false, expires_in: "" })
      assert.deepStrictEqual([changed.body.phrase, changed.body.irreversible, changed.body.expires_at], [
        "dogs",
        false,
        null
      ])
      // With more keywords, shared settings cannot be changed by one of them.
      yield* call("POST", `${filtersPath}/${whole!.id}/keywords`, ada.token, { keyword: "birds" })
      const refused = yield* call("PUT", one, ada.token, { phrase: "fish", context: ["home"] })
      assert.strictEqual(refused.status, 422)
      assert.match(refused.body.error, /^These parameters cannot be changed from this application/)
      const updated = yield* call("PUT", one, ada.token, {
        phrase: "fish",
        context: ["thread", "home"],
        expires_in: ""
      })
      assert.strictEqual(updated.body.phrase, "fish")
      const all = (yield* call("GET", "/api/v1/filters", ada.token)).body
      assert.deepStrictEqual(all.map(({ phrase }: { readonly phrase: string }) => phrase), ["fish", "birds"])
      assert.strictEqual((yield* call("POST", "/api/v1/filters", ada.token, { context: ["home"] })).status, 422)
      yield* call("DELETE", one, ada.token)
      assert.strictEqual((yield* call("GET", one, ada.token)).status, 404)
      assert.strictEqual((yield* call("GET", `${filtersPath}/${whole!.id}`, ada.token)).body.keywords.length, 1)
    }))

  it.effect("two concurrent changes respect the bound and lose nothing", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson
      const { id } = yield* filter(ada, {})
      yield* Effect.forEach(
        Array.from({ length: 12 }, (_, at) => at),
        (at) => call("POST", `${filtersPath}/${id}/keywords`, ada.token, { keyword: `word ${at}` }),
        { concurrency: 12 }
      )
      const { body } = yield* call("GET", `${filtersPath}/${id}`, ada.token)
      assert.strictEqual(body.keywords.length, 12)
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO filters (id, account_id, title, contexts, action)
        SELECT i, ${ada.accountId}, 'x', '{home}', 'warn' FROM generate_series(1, 198) i`
      const responses = yield* Effect.forEach(
        [1, 2, 3],
        () => call("POST", filtersPath, ada.token, { title: "one more", context: ["home"] }),
        { concurrency: 3 }
      )
      assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [200, 422, 422])
      assert.include(
        responses.map(({ body }) => body.error),
        "Validation failed: Filters are too many (maximum is 200)"
      )
    }))
})
