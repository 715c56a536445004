import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DeletedStatus, StatusEdit } from "../../../src/http/wire/Status.ts"
import { ask, idsOf, newPerson, settled } from "../../support/Api.ts"
import { follow } from "../../support/ListCalls.ts"
import { decodeStatus as decode, notified, post, quoting, show, stateFor } from "../../support/QuoteCalls.ts"
import { links } from "../../support/Requests.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const gone = "The post you are trying to quote does not appear to exist."

layer(TestServer.layer(), { excludeTestServices: true })("quotes", (it) => {
  it.effect("a quote is listed with the quoted post, counted, and notified", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna1"), yield* newPerson("ben1"), yield* newPerson("cleo1")]
      const quoted = yield* post(anna, "first words")
      assert.deepStrictEqual(quoted.quote_approval, { automatic: ["public"], manual: [], current_user: "automatic" })
      const one = yield* quoting(ben, quoted)
      assert.deepInclude(one.quote, { state: "accepted" })
      assert.deepInclude(one.quote?.quoted_status, {
        id: quoted.id,
        content: "<p>first words</p>",
        quotes_count: 1,
        quote: null
      })
      // A quote of a quote only names what the inner one quotes; no text is needed.
      const two = yield* post(cleo, "", { quoted_status_id: one.id })
      assert.strictEqual(two.quote?.quoted_status?.id, one.id)
      assert.deepStrictEqual(two.quote?.quoted_status?.quote, { state: "accepted", quoted_status_id: quoted.id })
      assert.deepInclude(yield* show(undefined, two), {
        quote_approval: { automatic: ["public"], manual: [], current_user: "denied" }
      })
      // A reblog shows the whole quote of its original.
      const { body: boost } = yield* ask(anna, "POST", `/api/v1/statuses/${two.id}/reblog`)
      assert.strictEqual((yield* decode(boost)).reblog?.quote?.quoted_status?.id, one.id)
      assert.isNull(boost.quote)
      // Quoting a reblog quotes its original.
      const three = yield* quoting(cleo, boost)
      assert.strictEqual(three.quote?.quoted_status?.id, two.id)
      yield* settled
      assert.deepStrictEqual(yield* notified(anna, "quote"), [["ben1", one.id]])
      assert.deepStrictEqual(yield* notified(ben, "quote"), [["cleo1", two.id]])
      const four = yield* quoting(cleo, quoted)
      assert.strictEqual((yield* show(anna, quoted)).quotes_count, 2)
      const path = `/api/v1/statuses/${quoted.id}/quotes`
      assert.deepStrictEqual(yield* idsOf(anna, path), [four.id, one.id])
      const page = yield* ask(anna, "GET", `${path}?limit=1`)
      assert.deepStrictEqual(yield* idsOf(anna, links(page.headers)["next"]!), [one.id])
      yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/mute`)
      assert.deepStrictEqual(yield* idsOf(anna, path), [four.id])
      yield* ask(cleo, "DELETE", `/api/v1/statuses/${four.id}`)
      assert.strictEqual((yield* show(anna, quoted)).quotes_count, 1)
      assert.deepStrictEqual(yield* idsOf(anna, path), [])
    }))

  it.effect("row 21: invisible or unquotable posts are 404; a private message quotes posts of accounts it mentions", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna2"), yield* newPerson("ben2"), yield* newPerson("cleo2")]
      yield* follow(ben, anna)
      const refused = Effect.fnUntraced(function*(by: Person, id: string, more: object = {}) {
        const response = yield* ask(by, "POST", "/api/v1/statuses", { status: "x", quoted_status_id: id, ...more })
        return [response.status, response.body.error]
      })
      const secret = yield* post(anna, "for followers", { visibility: "private" })
      const nobodys = yield* post(anna, "mine", { quote_approval_policy: "nobody" })
      const followers = yield* post(anna, "for friends to quote", { quote_approval_policy: "followers" })
      for (
        const [by, id] of [[cleo, secret.id], [ben, secret.id], [ben, nobodys.id], [cleo, followers.id], [ben, "1"], [
          ben,
          "x"
        ], [ben, "99999999999999999999"]] as const
      ) {
        assert.deepStrictEqual(yield* refused(by, id), [404, gone], id)
      }
      assert.strictEqual((yield* show(ben, followers)).quote_approval.current_user, "automatic")
      assert.deepStrictEqual((yield* show(cleo, followers)).quote_approval, {
        automatic: ["followers"],
        manual: [],
        current_user: "denied"
      })
      assert.deepStrictEqual((yield* show(ben, nobodys)).quote_approval, {
        automatic: [],
        manual: [],
        current_user: "denied"
      })
      assert.strictEqual((yield* quoting(ben, followers)).quote?.state, "accepted")
      assert.strictEqual((yield* quoting(anna, nobodys)).quote?.state, "accepted")
      // Quoting the author's own followers-only post does not show it to others.
      const own = yield* quoting(anna, secret, { visibility: "public" })
      assert.strictEqual(own.visibility, "private")
      assert.deepStrictEqual(yield* stateFor(ben, own), ["accepted", "<p>for followers</p>"])
      const open = yield* post(anna, "open")
      assert.deepStrictEqual(yield* refused(cleo, open.id, { visibility: "direct" }), [
        422,
        "Validation failed: Cannot quote a non-mentioned user in a Private Mention post."
      ])
      assert.strictEqual(
        (yield* post(cleo, "@anna2 look", { visibility: "direct", quoted_status_id: open.id })).quote?.state,
        "accepted"
      )
      assert.strictEqual(
        (yield* refused(cleo, open.id, { visibility: "direct", scheduled_at: "2099-01-01T00:00:00Z" }))[0],
        422
      )
      // The quoted author may read the quoting post.
      const private_ = yield* quoting(ben, open, { visibility: "private" })
      assert.deepStrictEqual(yield* stateFor(anna, private_), ["accepted", "<p>open</p>"])
      assert.strictEqual((yield* ask(cleo, "GET", `/api/v1/statuses/${private_.id}`)).status, 404)
      assert.deepStrictEqual(
        yield* idsOf(cleo, `/api/v1/statuses/${open.id}/quotes`),
        yield* idsOf(cleo, `/api/v1/statuses/${open.id}/quotes`)
      )
      assert.notInclude(yield* idsOf(cleo, `/api/v1/statuses/${open.id}/quotes`), private_.id)
    }))

  it.effect("a quote that its reader may not see, or hides, shows its state: unauthorized, deleted, blocked, muted, by domain", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben, cleo] = [yield* newPerson("anna3"), yield* newPerson("ben3"), yield* newPerson("cleo3")]
      const quoted = yield* post(anna, "quoted")
      const one = yield* quoting(ben, quoted)
      const two = yield* quoting(cleo, one)
      const relate = (by: Person, to: Person, verb: string) =>
        ask(by, "POST", `/api/v1/accounts/${to.accountId}/${verb}`)
      yield* relate(cleo, anna, "mute")
      assert.deepStrictEqual(yield* stateFor(cleo, one), ["muted_account", "<p>quoted</p>"])
      assert.deepStrictEqual((yield* show(cleo, two)).quote?.quoted_status?.quote, {
        state: "muted_account",
        quoted_status_id: quoted.id
      })
      yield* relate(cleo, anna, "unmute")
      yield* relate(cleo, anna, "block")
      assert.deepStrictEqual(yield* stateFor(cleo, one), ["blocked_account", "<p>quoted</p>"])
      yield* relate(cleo, anna, "unblock")
      yield* relate(anna, cleo, "block")
      assert.deepStrictEqual(yield* stateFor(cleo, one), ["unauthorized", undefined])
      assert.deepStrictEqual((yield* show(cleo, two)).quote?.quoted_status?.quote, {
        state: "unauthorized",
        quoted_status_id: null
      })
      assert.deepStrictEqual(yield* stateFor(ben, one), ["accepted", "<p>quoted</p>"])
      yield* relate(anna, cleo, "unblock")
      yield* sql`UPDATE accounts SET domain = 'far.example' WHERE id = ${anna.accountId}`
      yield* ask(cleo, "POST", "/api/v1/domain_blocks", { domain: "far.example" })
      assert.strictEqual((yield* stateFor(cleo, one))[0], "blocked_domain")
      yield* sql`UPDATE accounts SET domain = NULL WHERE id = ${anna.accountId}`
      yield* ask(anna, "DELETE", `/api/v1/statuses/${quoted.id}`)
      yield* settled
      assert.deepStrictEqual(yield* stateFor(ben, one), ["deleted", undefined])
      assert.deepStrictEqual((yield* show(cleo, two)).quote?.quoted_status?.quote, {
        state: "deleted",
        quoted_status_id: null
      })
      yield* sql`UPDATE quotes SET quoted_status_id = NULL WHERE status_id = ${BigInt(one.id)}`
      assert.deepStrictEqual(yield* stateFor(undefined, one), ["deleted", undefined])
    }))

  it.effect("the quoted author revokes consent; redrafts, revisions and edits keep the quote", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna4"), yield* newPerson("ben4")]
      const quoted = yield* post(anna, "quoted")
      const one = yield* quoting(ben, quoted)
      const { body: history } = yield* ask(ben, "GET", `/api/v1/statuses/${one.id}/history`)
      const [version] = yield* Schema.decodeUnknownEffect(Schema.Array(StatusEdit), strict)(history)
      assert.strictEqual(version?.quote?.quoted_status?.id, quoted.id)
      const edited = yield* ask(ben, "PUT", `/api/v1/statuses/${one.id}`, { status: "" })
      assert.strictEqual((yield* decode(edited.body)).quote?.quoted_status?.id, quoted.id)
      yield* ask(anna, "PUT", `/api/v1/statuses/${quoted.id}`, { status: "quoted, and edited" })
      yield* settled
      assert.deepStrictEqual(yield* stateFor(ben, one), ["accepted", "<p>quoted, and edited</p>"])
      assert.deepStrictEqual(yield* notified(ben, "quoted_update"), [["anna4", one.id]])
      const path = (quotedId: string) => `/api/v1/statuses/${quotedId}/quotes/${one.id}/revoke`
      for (const [by, id] of [[ben, quoted.id], [anna, one.id], [anna, "1"]] as const) {
        assert.strictEqual((yield* ask(by, "POST", path(id))).status, 404)
      }
      assert.lengthOf(yield* notified(anna, "quote"), 1)
      for (let times = 0; times < 2; times++) {
        const { body, status } = yield* ask(anna, "POST", path(quoted.id))
        assert.strictEqual(status, 200)
        assert.deepStrictEqual((yield* decode(body)).quote, { state: "revoked", quoted_status: null })
      }
      assert.deepStrictEqual(yield* stateFor(ben, one), ["revoked", undefined])
      assert.strictEqual((yield* show(anna, quoted)).quotes_count, 0)
      assert.deepStrictEqual(yield* notified(anna, "quote"), [])
      assert.deepStrictEqual(yield* idsOf(anna, `/api/v1/statuses/${quoted.id}/quotes`), [])
      const { body: deleted } = yield* ask(ben, "DELETE", `/api/v1/statuses/${one.id}`)
      const redraft = yield* Schema.decodeUnknownEffect(DeletedStatus, strict)(deleted)
      assert.deepInclude(redraft.quote, { state: "revoked" })
      assert.strictEqual(redraft.quote?.quoted_status?.id, quoted.id)
      assert.strictEqual((yield* show(anna, quoted)).quotes_count, 0)
    }))
})
