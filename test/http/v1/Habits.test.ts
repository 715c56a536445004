import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { request } from "node:http"
import { DeletedStatus } from "../../../src/http/wire/Status.ts"
import { call, newPerson, sendPost } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { sourcesIn } from "../../support/source.ts"
import { deliverFrom, note, OtherServer, servers } from "../activitypub/Sending.ts"

const form = (by: Person, path: string, body: string) =>
  TestServer.use(({ fetch }) =>
    fetch(path, {
      method: "POST",
      token: by.token,
      body,
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
  )

layer(servers, { excludeTestServices: true })("habits of clients", (it) => {
  it.effect("F30: empty and null languages of a follow mean all; without the parameter they are unchanged", () =>
    Effect.gen(function*() {
      const [reader, author] = [yield* newPerson("reader"), yield* newPerson("author")]
      const path = `/api/v1/accounts/${author.accountId}/follow`
      const follow = (json: Record<string, unknown>) =>
        Effect.map(call("POST", path, reader.token, json), ({ body }) => body.languages)
      assert.isNull(yield* follow({ languages: [] }))
      assert.deepStrictEqual(yield* follow({ languages: ["de", "fr"] }), ["de", "fr"])
      assert.deepStrictEqual(yield* follow({ reblogs: false }), ["de", "fr"])
      assert.isNull(yield* follow({ languages: null }))
      for (const nothing of ["languages[]=", "languages="]) {
        yield* follow({ languages: ["de"] })
        yield* form(reader, path, nothing)
        assert.isNull(yield* follow({}), nothing)
      }
      const { body } = yield* sendPost(author, { status: "Hello", language: "en" })
      const home = yield* call("GET", "/api/v1/timelines/home", reader.token)
      assert.deepStrictEqual(home.body.map(({ id }: { readonly id: string }) => id), [body.id])
    }))

  it.effect("F31: a public post counts once in its hashtags' history, by any author and after any edits", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("tagging"), yield* newPerson("tagging2")]
      const zoe = yield* OtherServer.use(({ actor }) => actor("tagger"))
      const today = Effect.map(call("GET", "/api/v1/tags/counted", undefined), ({ body }) => {
        const { accounts, uses } = body.history[0]
        return [Number(uses), Number(accounts)]
      })
      const { body } = yield* sendPost(ada, { status: "#Counted #counted and #other" })
      assert.deepStrictEqual(yield* today, [1, 1])
      const edit = (status: string) => call("PUT", `/api/v1/statuses/${body.id}`, ada.token, { status })
      yield* edit("#counted more")
      yield* edit("#counted even more")
      assert.deepStrictEqual(yield* today, [1, 1])
      yield* edit("no more")
      assert.deepStrictEqual(yield* today, [0, 0])
      yield* edit("once #counted")
      assert.deepStrictEqual(yield* today, [1, 1])
      for (const visibility of ["unlisted", "private", "direct"]) {
        yield* sendPost(ada, { status: "#counted", visibility })
      }
      assert.deepStrictEqual(yield* today, [1, 1])
      yield* sendPost(ada, { status: "again #counted" })
      assert.deepStrictEqual(yield* today, [2, 1])
      yield* sendPost(bob, { status: "#COUNTED too" })
      assert.deepStrictEqual(yield* today, [3, 2])

      const { baseUrl } = yield* TestServer
      const cc = [`${baseUrl}/users/${ada.username}`]
      const tag = [{ type: "Mention", href: cc[0] }, { type: "Hashtag", name: "#Counted" }]
      const post = note(zoe, "counts", { cc, tag })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: post }), "done")
      assert.deepStrictEqual(yield* today, [4, 3])
      const edited = { ...post, content: "<p>edited</p>", updated: new Date().toISOString() }
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Update", object: edited }), "done")
      assert.deepStrictEqual(yield* today, [4, 3])
      const secret = note(zoe, "secret", { to: cc, cc: [], tag: [...tag, { type: "Hashtag", name: "#hushed" }] })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: secret }), "done")
      assert.deepStrictEqual(yield* today, [4, 3])
      const { body: hushed } = yield* call("GET", "/api/v1/tags/hushed", undefined)
      assert.deepInclude(hushed.history[0], { uses: "0", accounts: "0" })
    }))

  it("F31: posts get their hashtags in one place", () => {
    const attaching = sourcesIn("src").filter(({ text }) => /INSERT INTO (?:statuses_tags|tag_days)/.test(text))
    // The copy of another server inserts the hashtags of its posts.
    assert.deepStrictEqual(attaching.map(({ path }) => path), [
      "src/services/mastodon/tables/StatusSteps.ts",
      "src/services/statuses/Tagging.ts"
    ])
  })

  it.effect("F36: several choices of a poll may be voted for one after the other, once each", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("asking"), yield* newPerson("choosing")]
      const publishPoll = (multiple: boolean) =>
        sendPost(ada, { status: "?", poll: { options: ["a", "b", "c"], expires_in: 3_600, multiple } })
      const vote = (id: string, ...choices: ReadonlyArray<number>) =>
        call("POST", `/api/v1/polls/${id}/votes`, bob.token, { choices })
      const { body: { id } } = yield* publishPoll(true)
      yield* vote(id, 0)
      const second = yield* vote(id, 2)
      assert.strictEqual(second.status, 200, JSON.stringify(second.body))
      assert.deepInclude(second.body, { own_votes: [0, 2], votes_count: 2, voters_count: 1 })
      for (const again of [[0], [1, 2]]) {
        const { body, status } = yield* vote(id, ...again)
        assert.deepStrictEqual([status, body.error], [422, "Validation failed: You have already voted on this poll"])
      }
      const { body: one } = yield* publishPoll(false)
      yield* vote(one.id, 0)
      assert.strictEqual((yield* vote(one.id, 1)).status, 422)
    }))

  it.effect("F36: parameters of a GET may be in a JSON body", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const ada = yield* newPerson("bodily")
      const [first, second] = [yield* sendPost(ada, { status: "one" }), yield* sendPost(ada, { status: "two" })]
      const sendBody = (path: string, body: string, type = "application/json") =>
        Effect.promise(() =>
          new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
            const headers = {
              authorization: `Bearer ${ada.token}`,
              "content-type": type,
              "content-length": body.length,
              connection: "close"
            }
            const asked = request(baseUrl + path, { method: "GET", headers }, (response) => {
              let text = ""
              response.on("data", (chunk) => text += chunk)
              response.on("end", () => resolve({ status: response.statusCode, text }))
            })
            asked.on("error", reject).end(body)
          })
        )
      const ids = ({ text }: { readonly text: string }) => JSON.parse(text).map(({ id }: { readonly id: string }) => id)
      const path = `/api/v1/accounts/${ada.accountId}/statuses`
      assert.deepStrictEqual(ids(yield* sendBody(path, JSON.stringify({ limit: 1 }))), [second.body.id])
      assert.deepStrictEqual(ids(yield* sendBody(path, JSON.stringify({ max_id: second.body.id }))), [first.body.id])
      const batch = JSON.stringify({ id: [first.body.id, second.body.id] })
      assert.deepStrictEqual(ids(yield* sendBody("/api/v1/statuses", batch)), [first.body.id, second.body.id])
      assert.strictEqual(ids(yield* sendBody(`${path}?limit=1`, "")).length, 1)
      assert.strictEqual(ids(yield* sendBody(path, "limit=1", "text/plain")).length, 2)
      assert.strictEqual((yield* sendBody(path, "{")).status, 400)
      assert.strictEqual((yield* sendBody(path, JSON.stringify({ q: "x".repeat(100_000) }))).status, 413)
    }))

  it.effect("F36: a report needs an existing account", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("reporting")
      for (const wrong of [{}, { account_id: "" }, { account_id: null }, { account_id: "x" }, { account_id: "1" }]) {
        const { body, status } = yield* call("POST", "/api/v1/reports", ada.token, { comment: "!", ...wrong })
        assert.deepStrictEqual([status, body], [404, { error: "Record not found" }], JSON.stringify(wrong))
      }
    }))

  it.effect("F36: identity proofs are marked as deprecated; the actor has an outbox, a hashtag is a collection", () =>
    Effect.gen(function*() {
      const { baseUrl, fetch } = yield* TestServer
      const ada = yield* newPerson("proving")
      const proofs = yield* call("GET", `/api/v1/accounts/${ada.accountId}/identity_proofs`, ada.token)
      assert.deepStrictEqual([proofs.status, proofs.body], [200, []])
      assert.match(proofs.headers.get("deprecation") ?? "", /^@\d+$/)
      const document = Effect.fnUntraced(function*(path: string, accept = "application/activity+json") {
        const response = yield* fetch(path, { headers: { accept } })
        return { response, body: JSON.parse(yield* Effect.promise(() => response.text())) }
      })
      const actor = yield* document("/actor")
      const outbox = yield* document(new URL(actor.body.outbox).pathname)
      assert.deepInclude(outbox.body, { id: `${baseUrl}/actor/outbox`, type: "OrderedCollection", totalItems: 0 })
      yield* sendPost(ada, { status: "a #Proved thing" })
      for (const accept of ["application/ld+json", "application/activity+json"]) {
        const { response, body } = yield* document("/tags/proved", accept)
        assert.strictEqual(response.status, 200)
        assert.match(response.headers.get("content-type") ?? "", /^application\/activity\+json/)
        assert.include(response.headers.get("vary") ?? "", "Accept")
        assert.deepInclude(body, { id: `${baseUrl}/tags/proved`, type: "OrderedCollection" })
      }
      const page = yield* fetch("/tags/proved", { headers: { accept: "text/html" } })
      assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
      assert.include(page.headers.get("vary") ?? "", "Accept")
    }))

  it.effect("F36: restricted boosts cause no notification; a deleted one shows its original's text", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("boosted"), yield* newPerson("booster")]
      const { body: { id } } = yield* sendPost(ada, { status: "boost me" })
      const boost = (visibility: string) => call("POST", `/api/v1/statuses/${id}/reblog`, bob.token, { visibility })
      for (const [visibility, shown] of [["public", 1], ["unlisted", 1], ["private", 0]] as const) {
        const { body } = yield* boost(visibility)
        const by = yield* call("GET", `/api/v1/statuses/${id}/reblogged_by`, bob.token)
        assert.strictEqual(by.body.length, shown, visibility)
        const gone = yield* call("DELETE", `/api/v1/statuses/${body.id}`, bob.token)
        assert.strictEqual(gone.body.reblog.text, "boost me")
        yield* Schema.decodeUnknownEffect(DeletedStatus)(gone.body, { onExcessProperty: "error" })
      }
    }))

  it.effect("F36: a post without an app still has the key application", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("appless")
      const { body } = yield* sendPost(ada, { status: "by the command line" })
      assert.isNull(body.application)
      const { body: seen } = yield* call("GET", `/api/v1/statuses/${body.id}`, undefined)
      assert.isNull(seen.application)
      const zoe = yield* OtherServer.use(({ actor }) => actor("appzoe"))
      const { baseUrl } = yield* TestServer
      const cc = [`${baseUrl}/users/${ada.username}`]
      yield* deliverFrom(zoe, {
        type: "Create",
        object: note(zoe, "far", { cc, tag: [{ type: "Mention", href: cc[0] }] })
      })
      const { body: [told] } = yield* call("GET", "/api/v1/notifications", ada.token)
      assert.notProperty(told.status, "application")
    }))

  it.effect("F36: groups' accounts page back with min_id; a scheduled post keeps its quote policy", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("grouped"), yield* newPerson("grouper")]
      const { body: { id } } = yield* sendPost(ada, { status: "like me" })
      yield* call("POST", `/api/v1/statuses/${id}/favourite`, bob.token)
      const groups = yield* eventually(
        call("GET", "/api/v2/notifications", ada.token),
        ({ body }) => body.notification_groups.length > 0
      )
      const key = groups.body.notification_groups[0].group_key
      const accounts = yield* call("GET", `/api/v2/notifications/${key}/accounts`, ada.token)
      assert.match(accounts.headers.get("link") ?? "", /[?&]min_id=\d+>; rel="prev"/)

      const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
      for (
        const [given, expected] of [["followers", "followers"], ["public", "public"], [undefined, "nobody"]] as const
      ) {
        const more = given === undefined ? {} : { quote_approval_policy: given }
        const { body } = yield* sendPost(ada, { status: "later", scheduled_at, ...more })
        assert.strictEqual(body.params.quote_approval_policy, expected)
        const { body: stored } = yield* call("GET", `/api/v1/scheduled_statuses/${body.id}`, ada.token)
        assert.strictEqual(stored.params.quote_approval_policy, expected)
      }
    }))
})
