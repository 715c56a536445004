import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { FilterStatus } from "../../../src/http/wire/Filter.ts"
import { Status } from "../../../src/http/wire/Status.ts"
import { call } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { filter, filtersPath, follow, newPerson, post, shown, texts } from "../../support/Filtering.ts"
import { TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => Schema.decodeUnknownEffect(schema, strict)

layer(TestServer.layer(), { excludeTestServices: true })("effects of filters on lists and statuses", (it) => {
  it.effect("S-062 S-069 S-084: warn and blur are shown, hide omits posts in its contexts, but never the user's own", () =>
    Effect.gen(function*() {
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      yield* follow(ada, ben)
      const plain = yield* post(ben, "nothing of note #plain")
      const warned = yield* post(ben, "A CAT, and <b>")
      const covered = yield* post(ben, "harmless", { spoiler_text: "about cats" })
      const poll = yield* post(ben, "vote", { poll: { options: ["dog", "secret"], expires_in: 3600 } })
      const own = yield* post(ada, "my secret")
      const warn = yield* filter(ada, {
        filter_action: "warn",
        keywords_attributes: [{ keyword: "cat" }, { keyword: "<b>" }]
      })
      const blur = yield* filter(ada, { filter_action: "blur", keywords_attributes: [{ keyword: "cats" }] })
      const hide = yield* filter(ada, {
        filter_action: "hide",
        context: ["home", "thread"],
        keywords_attributes: [{ keyword: "SECRET" }]
      })
      const home = yield* shown(ada, "/api/v1/timelines/home")
      yield* Effect.forEach(home, (status) => decode(Status)(status))
      assert.deepStrictEqual(home.map(({ id }) => id), [own, covered, warned, plain])
      const { keywords: _k, statuses: _s, ...head } = warn
      const { keywords: _bk, statuses: _bs, ...blurHead } = blur
      assert.deepStrictEqual(home.map(({ filtered }) => filtered), [
        [],
        [{ filter: blurHead, keyword_matches: ["cats"], status_matches: null }],
        [{ filter: head, keyword_matches: ["cat", "<b>"], status_matches: null }],
        []
      ])
      // The status by its id, and contexts outside the filter, still show it, without mentioning the filter.
      const alone = yield* call("GET", `/api/v1/statuses/${poll}`, ada.token)
      assert.deepStrictEqual(alone.body.filtered, [])
      const profile = `/api/v1/accounts/${ben.accountId}/statuses`
      assert.include((yield* shown(ada, profile)).map(({ id }) => id), poll)
      assert.include((yield* shown(ada, "/api/v1/timelines/public")).map(({ id }) => id), poll)
      const reply = yield* post(ben, "@x the secret", { in_reply_to_id: plain })
      const responses = yield* call("GET", `/api/v1/statuses/${plain}/context`, ada.token)
      assert.deepStrictEqual(responses.body.descendants, [])
      assert.strictEqual(
        (yield* call("GET", `/api/v1/statuses/${plain}/context`, ben.token)).body.descendants[0].id,
        reply
      )

      // A status filter covers the status and its reblogs.
      const entry = yield* call("POST", `${filtersPath}/${hide.id}/statuses`, ada.token, { status_id: plain })
      yield* decode(FilterStatus)(entry.body)
      const named = yield* call("POST", `${filtersPath}/${warn.id}/statuses`, ada.token, { status_id: warned })
      const twice = yield* call("POST", `${filtersPath}/${warn.id}/statuses`, ada.token, { status_id: warned })
      assert.strictEqual(twice.body.error, "Validation failed: Status has already been taken")
      const later = yield* shown(ada, "/api/v1/timelines/home")
      assert.deepStrictEqual(later.map(({ id }) => id), [own, covered, warned])
      assert.deepStrictEqual(later[2]!.filtered![0]!.status_matches, [warned])
      const list = `${filtersPath}/${warn.id}/statuses`
      assert.deepStrictEqual((yield* call("GET", list, ada.token)).body, [named.body])
      assert.deepStrictEqual(
        (yield* call("GET", `${filtersPath}/statuses/${named.body.id}`, ada.token)).body,
        named.body
      )
      assert.strictEqual((yield* call("GET", `${filtersPath}/statuses/${named.body.id}`, ben.token)).status, 404)
      assert.strictEqual((yield* call("DELETE", `${filtersPath}/statuses/${named.body.id}`, ben.token)).status, 404)
      const cy = yield* newPerson
      yield* follow(ada, cy)
      const repeated = (yield* call("POST", `/api/v1/statuses/${warned}/reblog`, cy.token)).body.id
      const boost = yield* call("GET", `/api/v1/statuses/${repeated}`, ada.token)
      for (const one of [boost.body, boost.body.reblog]) {
        assert.deepStrictEqual([one.filtered[0].keyword_matches, one.filtered[0].status_matches], [["cat", "<b>"], [
          warned
        ]])
      }
      yield* call("DELETE", `${filtersPath}/statuses/${named.body.id}`, ada.token)
      yield* call("DELETE", `${filtersPath}/statuses/${entry.body.id}`, ada.token)
      assert.deepStrictEqual((yield* call("GET", list, ada.token)).body, [])
      // Unreadable posts cannot be added to a filter.
      const secret = yield* post(ben, "for nobody", { visibility: "direct" })
      assert.strictEqual((yield* call("POST", list, ada.token, { status_id: secret })).status, 404)
      assert.strictEqual((yield* call("POST", list, ada.token, {})).status, 404)
      // Other users and visitors get no filter results.
      assert.deepStrictEqual((yield* call("GET", `/api/v1/statuses/${warned}`, cy.token)).body.filtered, [])
      assert.notProperty((yield* call("GET", `/api/v1/statuses/${warned}`, undefined)).body, "filtered")
    }))

  it.effect("S-085 S-111: changes and edits apply at once, and an expired filter does not", () =>
    Effect.gen(function*() {
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      yield* follow(ada, ben)
      const id = yield* post(ben, "about owls")
      const created = yield* filter(ada, { filter_action: "hide", keywords_attributes: [{ keyword: "owls" }] })
      const home = "/api/v1/timelines/home"
      assert.deepStrictEqual(yield* texts(ada, home), [])
      yield* call("PUT", `/api/v1/statuses/${id}`, ben.token, { status: "about crows" })
      assert.deepStrictEqual(yield* texts(ada, home), ["about crows"])
      yield* call("PUT", `${filtersPath}/keywords/${created.keywords![0]!.id}`, ada.token, { keyword: "crows" })
      assert.deepStrictEqual(yield* texts(ada, home), [])
      yield* call("PATCH", `${filtersPath}/${created.id}`, ada.token, { filter_action: "warn" })
      assert.strictEqual((yield* shown(ada, home))[0]!.filtered!.length, 1)
      // The filter expires while everything is cached.
      yield* call("PATCH", `${filtersPath}/${created.id}`, ada.token, { filter_action: "hide", expires_in: 2 })
      assert.deepStrictEqual(yield* texts(ada, home), [])
      const expiredTexts = yield* eventually(texts(ada, home), (found) => found.length > 0)
      assert.deepStrictEqual(expiredTexts, ["about crows"])
      const [expired] = (yield* call("GET", filtersPath, ada.token)).body
      assert.isBelow(Date.parse(expired.expires_at), Date.now())
      yield* call("DELETE", `${filtersPath}/${created.id}`, ada.token)
      assert.strictEqual((yield* shown(ada, home))[0]!.filtered!.length, 0)
    }))

  it.effect("S-128: a page with many hidden posts is filled up, or continues", () =>
    Effect.gen(function*() {
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      yield* follow(ada, ben)
      const wanted: Array<string> = []
      for (let at = 0; at < 40; at++) {
        const text = at % 10 === 0 ? `good ${at}` : `bad ${at}`
        yield* post(ben, text)
        if (at % 10 === 0) wanted.unshift(text)
      }
      yield* filter(ada, {
        context: ["home", "account", "public"],
        filter_action: "hide",
        keywords_attributes: [{ keyword: "bad" }]
      })
      for (const list of ["/api/v1/timelines/home", `/api/v1/accounts/${ben.accountId}/statuses`]) {
        const found: Array<string> = []
        let next: string | undefined = `${list}?limit=4`
        for (let pages = 0; next !== undefined && pages < 20; pages++) {
          const page: { readonly body: ReadonlyArray<typeof Status.Type>; readonly headers: Headers } = yield* call(
            "GET",
            next,
            ada.token
          )
          found.push(...page.body.map(({ content }) => content.replace(/<[^>]*>/g, "")))
          next = /<[^>]*?(\/api[^>]*)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1]
        }
        assert.deepStrictEqual(found, wanted, list)
        const oldest = (yield* shown(ben, `/api/v1/accounts/${ben.accountId}/statuses?limit=40`)).at(-1)!
        assert.deepStrictEqual(yield* texts(ada, `${list}?limit=2&min_id=${oldest.id}`), ["good 20", "good 10"], list)
      }
      const first = yield* texts(ada, "/api/v1/timelines/home?limit=10")
      assert.isAtLeast(first.length, 3)
    }))

  it.effect("S-062: notifications of hidden statuses are omitted and not counted", () =>
    Effect.gen(function*() {
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      yield* follow(ada, ben)
      const own = yield* post(ada, "my spoiler")
      yield* call("POST", `/api/v1/statuses/${own}/favourite`, ben.token)
      yield* post(ben, `@${ada.username} a spoiler`)
      yield* post(ben, `@${ada.username} hello`)
      const types = (list: string) =>
        Effect.map(
          call("GET", list, ada.token),
          ({ body }) => (body.notification_groups ?? body).map(({ type }: { readonly type: string }) => type)
        )
      const lists = ["/api/v1/notifications?exclude_types[]=follow", "/api/v2/notifications?exclude_types[]=follow"]
      for (const list of lists) assert.deepStrictEqual(yield* types(list), ["mention", "mention", "favourite"])
      const created = yield* filter(ada, {
        context: ["notifications"],
        filter_action: "hide",
        keywords_attributes: [{ keyword: "spoiler" }]
      })
      for (const list of lists) {
        assert.deepStrictEqual(yield* types(list), ["mention", "favourite"])
        const count = list.replace("?", "/unread_count?")
        assert.strictEqual((yield* call("GET", count, ada.token)).body.count, 2, count)
      }
      yield* call("PUT", `${filtersPath}/${created.id}`, ada.token, { filter_action: "warn" })
      const [, second] = (yield* call("GET", lists[0]!, ada.token)).body
      assert.deepStrictEqual(second.status.filtered[0].keyword_matches, ["spoiler"])
    }))
})
