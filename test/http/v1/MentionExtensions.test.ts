import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { NotificationPolicy } from "../../../src/http/wire/NotificationPolicy.ts"
import { Relationship } from "../../../src/http/wire/Relationship.ts"
import { settled } from "../../support/Actors.ts"
import { call } from "../../support/Api.ts"
import { follow, newPerson, post, shown } from "../../support/Filtering.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { watching } from "../../support/WatchedStream.ts"

const strict = { onExcessProperty: "error" } as const
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => Schema.decodeUnknownEffect(schema, strict)
const boost = (by: Person, id: string) =>
  Effect.andThen(call("POST", `/api/v1/statuses/${id}/reblog`, by.token), settled)
const mentions = (owner: Person, query = "") =>
  Effect.map(
    call("GET", `/api/v1/notifications?types[]=mention${query}`, owner.token),
    ({ body }) => body.map(({ status }: { readonly status: { readonly id: string } }) => status.id)
  )
const policy = "/api/v2/notifications/policy"
const decide = (owner: Person, decision: string) =>
  Effect.flatMap(
    call("PATCH", policy, owner.token, { for_new_conversations: decision }),
    ({ body }) => decode(NotificationPolicy)(body)
  )

layer(TestServer.layer(), { excludeTestServices: true })("extensions for mentions", (it) => {
  it.effect("F98, D-021: a policy filters or drops mentions by unfollowed people in conversations without a post of the user", () =>
    Effect.gen(function*() {
      const [ada, ben, cy] = [yield* newPerson, yield* newPerson, yield* newPerson]
      const before = (yield* call("GET", policy, ada.token)).body
      assert.strictEqual(before.for_new_conversations, "accept")
      const mention = (more: Record<string, unknown> = {}) => post(ben, `hello @${ada.username}`, more)
      const accepted = yield* mention()
      assert.deepStrictEqual(yield* mentions(ada), [accepted])

      assert.strictEqual((yield* decide(ada, "filter")).for_new_conversations, "filter")
      const asked = yield* post(ada, "what do you think?")
      const responded = yield* mention({ in_reply_to_id: asked })
      const filtered = yield* mention()
      assert.deepStrictEqual(yield* mentions(ada), [responded, accepted])
      assert.deepStrictEqual(yield* mentions(ada, "&include_filtered=true"), [filtered, responded, accepted])
      // A mention deeper in Ada's own conversation arrives; a boost is not part of a conversation, and a deleted post
      // does not count.
      const deeper = yield* post(cy, `@${ada.username} see`, { in_reply_to_id: responded })
      assert.deepStrictEqual(yield* mentions(ada), [deeper, responded, accepted])
      yield* decide(ada, "drop")
      const foreign = yield* post(cy, "a conversation of others")
      yield* boost(ada, foreign)
      const dropped = yield* mention({ in_reply_to_id: foreign })
      assert.notInclude(yield* mentions(ada, "&include_filtered=true"), dropped)
      const part = yield* post(ada, "me too", { in_reply_to_id: foreign })
      const heard = yield* mention({ in_reply_to_id: foreign })
      assert.include(yield* mentions(ada), heard)
      yield* call("DELETE", `/api/v1/statuses/${part}`, ada.token)
      yield* settled
      const alone = yield* mention({ in_reply_to_id: foreign })
      assert.notInclude(yield* mentions(ada, "&include_filtered=true"), alone)
      // Other types are not affected, nor are followed accounts.
      yield* call("POST", `/api/v1/statuses/${asked}/favourite`, cy.token)
      yield* settled
      const types = (yield* call("GET", "/api/v1/notifications", ada.token)).body
      assert.strictEqual(types[0].type, "favourite")
      yield* follow(ada, ben)
      const friendly = yield* mention()
      assert.include(yield* mentions(ada), friendly)
      // The older form does not know it and leaves it unchanged.
      yield* call("PUT", "/api/v1/notifications/policy", ada.token, { filter_not_following: false })
      assert.strictEqual((yield* call("GET", policy, ada.token)).body.for_new_conversations, "drop")
      assert.strictEqual((yield* call("PATCH", policy, ada.token, { for_new_conversations: "banana" })).status, 422)
    }))

  it.effect("F98, D-022: a mute lets replies to the muting user through on request", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, ben, cy] = [yield* newPerson, yield* newPerson, yield* newPerson]
      yield* follow(ada, ben)
      const mute = (more: Record<string, unknown>) =>
        Effect.flatMap(
          call("POST", `/api/v1/accounts/${ben.accountId}/mute`, ada.token, more),
          ({ body }) => decode(Relationship)(body)
        )
      const own = yield* post(ada, "a question")
      const foreign = yield* post(cy, "of others")
      const early = yield* post(ben, `@${ada.username} early`, { in_reply_to_id: own })
      assert.deepStrictEqual(yield* mentions(ada), [early])

      assert.deepInclude(yield* mute({}), { muting: true, muting_notifications: true, muting_replies: false })
      yield* post(ben, `@${ada.username} unheard`, { in_reply_to_id: own })
      assert.deepStrictEqual(yield* mentions(ada), [])

      const stream = yield* watching(ada)
      assert.deepInclude(yield* mute({ replies: true, duration: 3_600 }), {
        muting: true,
        muting_notifications: true,
        muting_replies: true
      })
      yield* post(ben, `@${ada.username} out of nothing`)
      yield* post(ben, `@${ada.username} among others`, { in_reply_to_id: foreign })
      const reply = yield* post(ben, `@${ada.username} an answer`, { in_reply_to_id: own, visibility: "private" })
      // Notifications before the mute return if they are replies.
      assert.deepStrictEqual(yield* mentions(ada), [reply, early])
      const [event, payload] = yield* stream.next("notification")
      assert.deepStrictEqual([event, JSON.parse(payload).status.id], ["notification", reply])
      const { body: groups } = yield* call("GET", "/api/v2/notifications?types[]=mention", ada.token)
      assert.deepStrictEqual(groups.statuses.map(({ id }: { readonly id: string }) => id), [reply, early])
      assert.strictEqual((yield* call("GET", `/api/v1/statuses/${reply}`, ada.token)).status, 200)
      const { body: [{ id: told }] } = yield* call("GET", "/api/v1/notifications?types[]=mention", ada.token)
      assert.strictEqual((yield* call("GET", `/api/v1/notifications/${told}`, ada.token)).status, 200)
      // Posts stay hidden, and so do other types.
      assert.deepStrictEqual((yield* shown(ada, "/api/v1/timelines/home")).map(({ id }) => id), [own])
      const { body: context } = yield* call("GET", `/api/v1/statuses/${own}/context`, ada.token)
      assert.deepStrictEqual(context.descendants, [])
      yield* call("POST", `/api/v1/statuses/${own}/favourite`, ben.token)
      yield* settled
      const { body: types } = yield* call("GET", "/api/v1/notifications", ada.token)
      assert.deepStrictEqual(types.map(({ type }: { readonly type: string }) => type), ["mention", "mention"])
      // A second post in a thread replies to its own author, not to the muting user.
      yield* post(ben, `@${ada.username} and more`, { in_reply_to_id: reply })
      assert.deepStrictEqual(yield* mentions(ada), [reply, early])
      const { body: [relation] } = yield* call(
        "GET",
        `/api/v1/accounts/relationships?id[]=${ben.accountId}`,
        ada.token
      )
      assert.isTrue(relation.muting_replies)
      // The setting ends with the mute, and is off after another mute without it.
      assert.deepInclude(yield* mute({}), { muting_replies: false })
      assert.deepStrictEqual(yield* mentions(ada), [])
      yield* mute({ replies: true })
      const { body: free } = yield* call("POST", `/api/v1/accounts/${ben.accountId}/unmute`, ada.token)
      assert.deepInclude(free, { muting: false, muting_replies: false })
      // A block still hides them.
      yield* mute({ replies: true })
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (next_id(0), ${ada.accountId}, ${ben.accountId})`
      assert.deepStrictEqual(yield* mentions(ada), [])
    }))
})
