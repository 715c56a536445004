import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GroupedNotificationsResults, Notification } from "../../../src/http/wire/Notification.ts"
import { NotificationPolicy, NotificationRequest } from "../../../src/http/wire/NotificationPolicy.ts"
import { settled } from "../../support/Actors.ts"
import { call } from "../../support/Api.ts"
import { newPerson, post } from "../../support/Filtering.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => Schema.decodeUnknownEffect(schema, strict)
const list = "/api/v1/notifications"
const requests = `${list}/requests`
const policy = "/api/v2/notifications/policy"

const direct = (author: Person, other: Person, text = "psst", more: Record<string, unknown> = {}) =>
  post(author, `@${other.username} ${text}`, { visibility: "direct", ...more })
const waiting = (owner: Person, query = "") =>
  Effect.flatMap(
    call("GET", `${requests}${query}`, owner.token),
    ({ body }) => decode(Schema.Array(NotificationRequest))(body)
  )
const types = (owner: Person, query = "") =>
  Effect.map(
    call("GET", `${list}${query}`, owner.token),
    ({ body }) => body.map(({ type }: { readonly type: string }) => type)
  )
const conversations = (owner: Person) =>
  Effect.map(call("GET", "/api/v1/conversations", owner.token), ({ body }): number => body.length)

layer(TestServer.layer(), { excludeTestServices: true })("notification requests", (it) => {
  it.effect("row 64: a stranger's private mention waits, is shown on request, and notifies once accepted", () =>
    Effect.gen(function*() {
      const [ada, ben, cy] = [yield* newPerson, yield* newPerson, yield* newPerson]
      const first = yield* direct(ben, ada)
      yield* direct(ben, ada, "again")
      yield* direct(cy, ada)
      yield* post(ben, `@${ada.username} in public`)
      assert.deepStrictEqual(yield* types(ada), ["mention"])
      assert.strictEqual((yield* call("GET", `${list}/unread_count`, ada.token)).body.count, 1)
      assert.strictEqual((yield* call("GET", "/api/v2/notifications", ada.token)).body.notification_groups.length, 1)
      assert.strictEqual(yield* conversations(ada), 0)
      assert.strictEqual(yield* conversations(ben), 2)

      const all = (yield* call("GET", `${list}?include_filtered=true`, ada.token)).body
      const decoded = yield* decode(Schema.Array(Notification))(all)
      assert.deepStrictEqual(decoded.map(({ filtered }) => filtered), [undefined, true, true, true])
      const grouped = yield* call("GET", "/api/v2/notifications?include_filtered=true", ada.token)
      assert.strictEqual((yield* decode(GroupedNotificationsResults)(grouped.body)).notification_groups.length, 4)
      assert.deepStrictEqual(yield* types(ada, `?account_id=${ben.accountId}`), ["mention", "mention", "mention"])
      assert.strictEqual((yield* call("GET", `${list}/${decoded[1]!.id}`, ada.token)).body.filtered, true)

      const [newer, older] = yield* waiting(ada)
      assert.deepStrictEqual([newer!.account.id, older!.account.id], [String(cy.accountId), String(ben.accountId)])
      assert.deepStrictEqual([older!.notifications_count, newer!.notifications_count], ["2", "1"])
      assert.include(older!.last_status!.content, "again")
      assert.deepStrictEqual((yield* waiting(ada, "?limit=1")).map(({ id }) => id), [newer!.id])
      assert.deepStrictEqual((yield* waiting(ada, `?max_id=${newer!.id}`)).map(({ id }) => id), [older!.id])
      assert.deepStrictEqual((yield* waiting(ada, `?min_id=${older!.id}`)).map(({ id }) => id), [newer!.id])
      assert.deepStrictEqual((yield* call("GET", `${requests}/${older!.id}`, ada.token)).body, older)
      const { summary } = yield* decode(NotificationPolicy)((yield* call("GET", policy, ada.token)).body)
      assert.deepStrictEqual(summary, { pending_requests_count: 2, pending_notifications_count: 3 })

      // Others' requests are not found.
      for (const [method, path] of [["GET", ""], ["POST", "/accept"], ["POST", "/dismiss"]] as const) {
        assert.strictEqual((yield* call(method, `${requests}/${older!.id}${path}`, ben.token)).status, 404)
      }
      yield* call("POST", `${requests}/accept`, ben.token, { id: [older!.id] })
      assert.strictEqual((yield* waiting(ada)).length, 2)

      assert.deepStrictEqual((yield* call("POST", `${requests}/${older!.id}/accept`, ada.token)).body, {})
      assert.deepStrictEqual((yield* call("GET", `${requests}/merged`, ada.token)).body, { merged: true })
      assert.deepStrictEqual(yield* types(ada), ["mention", "mention", "mention"])
      assert.strictEqual(yield* conversations(ada), 2)
      yield* direct(ben, ada, "and now")
      assert.strictEqual((yield* types(ada)).length, 4)
      assert.strictEqual(yield* conversations(ada), 3)
      assert.strictEqual((yield* call("POST", `${requests}/${older!.id}/accept`, ada.token)).status, 404)
      yield* call("DELETE", `/api/v1/statuses/${first}`, ben.token)
      assert.strictEqual((yield* types(ada)).length, 3)

      // A dismissed request is gone; a new message makes a new one.
      assert.deepStrictEqual(
        (yield* call("POST", `${requests}/dismiss`, ada.token, { id: [newer!.id, "0", "x"] })).body,
        {}
      )
      assert.deepStrictEqual(yield* waiting(ada), [])
      assert.deepStrictEqual(yield* types(ada, `?account_id=${cy.accountId}`), [])
      yield* direct(cy, ada, "please")
      const [again] = yield* waiting(ada)
      assert.strictEqual(again!.notifications_count, "1")
      yield* call("POST", `${requests}/accept`, ada.token, { id: [again!.id] })
      assert.deepStrictEqual(yield* waiting(ada), [])
      // A block revokes the acceptance.
      yield* call("POST", `/api/v1/accounts/${cy.accountId}/block`, ada.token)
      yield* call("POST", `/api/v1/accounts/${cy.accountId}/unblock`, ada.token)
      yield* direct(cy, ada, "once more")
      assert.strictEqual((yield* waiting(ada)).length, 1)
    }))

  it.effect("a request ends with its status, and hidden or suspended accounts have none", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, ben, cy] = [yield* newPerson, yield* newPerson, yield* newPerson]
      const id = yield* direct(ben, ada)
      assert.strictEqual((yield* waiting(ada)).length, 1)
      yield* call("DELETE", `/api/v1/statuses/${id}`, ben.token)
      yield* settled
      assert.strictEqual((yield* waiting(ada)).length, 0)
      yield* direct(ben, ada, "one")
      yield* direct(cy, ada, "two")
      yield* call("POST", `/api/v1/accounts/${ben.accountId}/mute`, ada.token)
      yield* sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${cy.accountId}`
      assert.deepStrictEqual(yield* waiting(ada), [])
      const { summary } = (yield* call("GET", policy, ada.token)).body
      assert.deepStrictEqual(summary, { pending_requests_count: 0, pending_notifications_count: 0 })
      yield* call("POST", `/api/v1/accounts/${ben.accountId}/unmute`, ada.token)
      assert.strictEqual((yield* waiting(ada)).length, 1)
      yield* call("POST", `${list}/clear`, ada.token)
      assert.deepStrictEqual(yield* waiting(ada), [])
    }))

  it.effect("a private reply to the user's own post notifies at once, at any depth of the thread", () =>
    Effect.gen(function*() {
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      const asked = yield* post(ada, `@${ben.username} what do you think?`)
      const near = yield* direct(ben, ada, "well", { in_reply_to_id: asked })
      yield* direct(ben, ada, "and also", { in_reply_to_id: near })
      assert.strictEqual((yield* types(ada)).length, 2)
      // Ada's general post does not address Ben, so his private reply is filtered.
      const general = yield* post(ada, "what do you all think?")
      yield* direct(ben, ada, "well", { in_reply_to_id: general })
      assert.strictEqual((yield* types(ada)).length, 2)
      assert.strictEqual((yield* waiting(ada)).length, 1)
    }))
})
