import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson, settled } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { only, reply, requests, response } from "../../support/InteractionCalls.ts"
import { notified, post, quoting, show, stateFor } from "../../support/QuoteCalls.ts"
import { TestServer } from "../../support/Server.ts"

const asks = { interaction_policy: { can_quote: { manual_approval: ["public"] } } }

layer(TestServer.layer(), { excludeTestServices: true })(
  "quotes that wait for the quoted author",
  (it) => {
    it.effect("row 21, S-212: a quote waits for the quoted author's single decision, and the author is notified", () =>
      Effect.gen(function*() {
        const [anna, ben, cleo] = [yield* newPerson("anna"), yield* newPerson("ben"), yield* newPerson("cleo")]
        const asked = yield* post(anna, "ask me", asks)
        assert.deepStrictEqual((yield* show(ben, asked)).quote_approval, {
          automatic: [],
          manual: ["public"],
          current_user: "manual"
        })
        const waiting = yield* Effect.forEach(["one", "two"], (status) => quoting(ben, asked, { status }))
        yield* settled
        const [one, two] = [waiting[0]!, waiting[1]!]
        for (const by of [ben, cleo, anna]) assert.deepStrictEqual(yield* stateFor(by, one), ["pending", undefined])
        assert.strictEqual((yield* show(anna, asked)).quotes_count, 0)
        assert.deepStrictEqual(yield* notified(anna, "quote"), [])
        assert.deepStrictEqual(yield* notified(anna, "pending.quote"), [["ben", two.id], ["ben", one.id]])
        const { body: all } = yield* requests(anna)
        assert.deepStrictEqual(
          all.map(({ id, quote, status, type }: Record<string, { id: string }>) => [id, type, quote?.id, status?.id]),
          [[two.id, "quote", two.id, asked.id], [one.id, "quote", one.id, asked.id]]
        )
        assert.strictEqual((yield* requests(anna, "?limit=1")).body.length, 1)
        assert.deepStrictEqual((yield* requests(anna, `?max_id=${one.id}`)).body, [])
        assert.deepStrictEqual((yield* requests(anna, "?quotes=false")).body, [])
        for (const by of [ben, cleo]) {
          assert.deepStrictEqual((yield* requests(by)).body, [])
          assert.strictEqual((yield* response(by, one.id, "authorize")).status, 404)
        }
        const agreed = yield* response(anna, one.id, "authorize")
        assert.strictEqual(agreed.status, 200)
        assert.strictEqual((yield* response(anna, one.id, "reject")).status, 404)
        assert.strictEqual((yield* response(anna, two.id, "reject")).status, 200)
        yield* settled
        assert.deepStrictEqual((yield* stateFor(cleo, one))[0], "accepted")
        assert.deepStrictEqual(yield* stateFor(ben, two), ["rejected", undefined])
        assert.strictEqual((yield* show(anna, asked)).quotes_count, 1)
        assert.deepStrictEqual(yield* notified(anna, "pending.quote"), [])
        assert.deepStrictEqual((yield* requests(anna)).body, [])
        // Consent can be revoked like consent given in advance.
        const revoke = `/api/v1/statuses/${asked.id}/quotes/${one.id}/revoke`
        assert.strictEqual((yield* ask(anna, "POST", revoke)).status, 200)
        assert.deepStrictEqual(yield* stateFor(cleo, one), ["revoked", undefined])
      }))

    it.effect("row 21: a pending quote ends by deletion, a block, or after 90 days", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [anna, ben, cleo] = [yield* newPerson("anna2"), yield* newPerson("ben2"), yield* newPerson("cleo2")]
        const asked = yield* post(anna, "ask me", asks)
        const deleted = yield* quoting(ben, asked)
        const blocked = yield* quoting(cleo, asked)
        const late = yield* quoting(ben, asked)
        yield* settled
        assert.strictEqual((yield* ask(ben, "DELETE", `/api/v1/statuses/${deleted.id}`)).status, 200)
        assert.strictEqual((yield* response(anna, deleted.id, "authorize")).status, 404)
        assert.strictEqual((yield* ask(anna, "POST", `/api/v1/accounts/${cleo.accountId}/block`)).status, 200)
        assert.strictEqual((yield* response(anna, blocked.id, "authorize")).status, 404)
        yield* settled
        assert.deepStrictEqual(yield* notified(anna, "pending.quote"), [["ben2", late.id]])
        yield* sql`UPDATE agenda SET due_at = '2020-01-01' WHERE kind = 'interaction_request' AND subject_id = ${
          BigInt(late.id)
        }`
        yield* eventually(requests(anna), ({ body }) => body.length === 0)
        assert.deepStrictEqual(yield* stateFor(ben, late), ["rejected", undefined])
        assert.deepStrictEqual(yield* notified(anna, "pending.quote"), [])
      }))

    it.effect("row 21: a post's quote policy overrides the author's default, changes by an edit, and may combine audiences", () =>
      Effect.gen(function*() {
        const [anna, ben] = [yield* newPerson("anna3"), yield* newPerson("ben3")]
        yield* ask(anna, "PATCH", "/api/v1/accounts/update_credentials", { source: { quote_policy: "nobody" } })
        const approval = (id: string) => Effect.map(show(ben, { id }), ({ quote_approval }) => quote_approval)
        const shut = yield* post(anna, "shut")
        assert.strictEqual((yield* approval(shut.id)).current_user, "denied")
        const open = yield* post(anna, "open", only("can_quote", ["public"]))
        assert.strictEqual((yield* approval(open.id)).current_user, "automatic")
        assert.notProperty(open, "interaction_policy")
        const both = yield* post(anna, "both", {
          interaction_policy: { can_quote: { automatic_approval: ["followers"], manual_approval: ["public"] } }
        })
        assert.deepStrictEqual(yield* approval(both.id), {
          automatic: ["followers"],
          manual: ["public"],
          current_user: "manual"
        })
        yield* ask(ben, "POST", `/api/v1/accounts/${anna.accountId}/follow`)
        yield* settled
        assert.strictEqual((yield* approval(both.id)).current_user, "automatic")
        yield* ask(anna, "PUT", `/api/v1/statuses/${both.id}`, { status: "both", ...only("can_quote", []) })
        assert.strictEqual((yield* approval(both.id)).current_user, "denied")
        // A pending reply that also quotes makes two requests, one after the other.
        const parent = yield* post(anna, "ask", only("can_reply", [], ["public"]))
        const quoted = yield* post(anna, "ask", asks)
        const { body: held } = yield* reply(ben, parent, "both", { quoted_status_id: quoted.id })
        yield* settled
        const kinds = Effect.map(requests(anna), ({ body }) => body.map(({ type }: { type: string }) => type))
        assert.deepStrictEqual(yield* kinds, ["reply"])
        assert.strictEqual((yield* response(anna, held.id, "authorize")).status, 404)
        const { body: [request] } = yield* requests(anna)
        assert.strictEqual((yield* response(anna, request.id, "authorize")).status, 200)
        yield* settled
        assert.deepStrictEqual(yield* kinds, ["quote"])
        assert.deepStrictEqual(yield* notified(anna, "pending.quote"), [["ben3", held.id]])
        assert.strictEqual((yield* response(anna, held.id, "authorize")).status, 200)
        yield* settled
        assert.strictEqual((yield* stateFor(undefined, held))[0], "accepted")
      }))
  }
)
