import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Notification } from "../../../src/http/wire/Notification.ts"
import {
  NotificationPolicy,
  NotificationPolicyV1,
  NotificationRequest
} from "../../../src/http/wire/NotificationPolicy.ts"
import { settled } from "../../support/Actors.ts"
import { call } from "../../support/Api.ts"
import { follow, newPerson, post } from "../../support/Filtering.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => Schema.decodeUnknownEffect(schema, strict)
const list = "/api/v1/notifications"
const requests = `${list}/requests`
const policy = "/api/v2/notifications/policy"

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
const decide = (owner: Person, decisions: Record<string, string>) =>
  Effect.flatMap(call("PATCH", policy, owner.token, decisions), ({ body }) => decode(NotificationPolicy)(body))

layer(TestServer.layer(), { excludeTestServices: true })("notification policies", (it) => {
  it.effect("each category accepts, filters and drops; dropping takes precedence, and accepted senders always notify", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      const status = yield* post(ada, "hello")
      const favourite = Effect.andThen(
        call("POST", `/api/v1/statuses/${status}/unfavourite`, ben.token),
        call("POST", `/api/v1/statuses/${status}/favourite`, ben.token)
      )
      /** Returns the outcome of a favourite: "accept", "filter" or "drop". */
      const outcome = Effect.gen(function*() {
        yield* favourite
        yield* settled
        const [shown, all] = [(yield* types(ada)).length, (yield* types(ada, "?include_filtered=1")).length]
        return shown === 1 ? "accept" : all === 1 ? "filter" : "drop"
      })
      const accepted = yield* decide(ada, {})
      const { summary: _, ...decisions } = accepted
      assert.deepStrictEqual(decisions, {
        for_not_following: "accept",
        for_not_followers: "accept",
        for_new_accounts: "accept",
        for_private_mentions: "filter",
        for_limited_accounts: "filter",
        for_bots: "accept",
        for_new_conversations: "accept"
      })
      assert.strictEqual(yield* outcome, "accept")
      for (const category of ["for_not_following", "for_not_followers", "for_new_accounts"]) {
        for (const decision of ["filter", "drop", "accept"]) {
          assert.propertyVal(yield* decide(ada, { [category]: decision }), category, decision)
          assert.strictEqual(yield* outcome, decision, `${category} ${decision}`)
        }
      }
      // Limited accounts and bots.
      yield* sql`UPDATE accounts SET silenced_at = created_at WHERE id = ${ben.accountId}`
      assert.strictEqual(yield* outcome, "filter")
      yield* decide(ada, { for_limited_accounts: "drop" })
      assert.strictEqual(yield* outcome, "drop")
      yield* decide(ada, { for_limited_accounts: "accept" })
      assert.strictEqual(yield* outcome, "accept")
      yield* sql`UPDATE accounts SET silenced_at = NULL, bot = true WHERE id = ${ben.accountId}`
      yield* decide(ada, { for_bots: "filter", for_new_accounts: "drop" })
      assert.strictEqual(yield* outcome, "drop")
      yield* sql`UPDATE accounts SET created_at = created_at - interval '31 days' WHERE id = ${ben.accountId}`
      assert.strictEqual(yield* outcome, "filter")
      // A follower counts as one after three days; a followed account is not a stranger.
      yield* decide(ada, { for_bots: "accept", for_not_followers: "filter" })
      yield* follow(ben, ada)
      yield* settled
      yield* call("POST", `${list}/clear`, ada.token)
      assert.strictEqual(yield* outcome, "filter")
      yield* sql`UPDATE follows SET created_at = created_at - interval '73 hours' WHERE account_id = ${ben.accountId}`
      assert.strictEqual(yield* outcome, "accept")
      yield* decide(ada, { for_not_following: "drop", for_bots: "drop", for_new_accounts: "drop" })
      assert.strictEqual(yield* outcome, "drop")
      yield* follow(ada, ben)
      assert.strictEqual(yield* outcome, "accept")
      yield* call("POST", `/api/v1/accounts/${ben.accountId}/unfollow`, ada.token)
      // A filtered favourite makes no request; a mention does, and accepting it accepts everything.
      yield* decide(ada, { for_not_following: "filter", for_bots: "accept", for_new_accounts: "accept" })
      assert.strictEqual(yield* outcome, "filter")
      assert.deepStrictEqual(yield* waiting(ada), [])
      yield* post(ben, `@${ada.username} hello`)
      const [request] = yield* waiting(ada)
      assert.strictEqual(request!.notifications_count, "1")
      yield* call("POST", `${requests}/${request!.id}/accept`, ada.token)
      assert.deepStrictEqual(yield* types(ada), ["mention", "favourite"])
      yield* decide(ada, { for_not_following: "drop" })
      yield* post(ben, `@${ada.username} still here`)
      assert.deepStrictEqual(yield* types(ada), ["mention", "mention", "favourite"])
    }))

  it.effect("publicly shown staff bypass the policy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      yield* decide(ada, { for_not_following: "drop", for_private_mentions: "drop" })
      const mention = post(ben, `@${ada.username} from staff`, { visibility: "direct" })
      yield* mention
      assert.deepStrictEqual(yield* types(ada, "?include_filtered=1"), [])
      yield* sql`UPDATE users SET role_id = (SELECT id FROM roles WHERE name = 'Moderator') WHERE account_id = ${ben.accountId}`
      yield* sql`UPDATE roles SET highlighted = true WHERE name = 'Moderator'`
      yield* mention
      assert.deepStrictEqual(yield* types(ada), ["mention"])
    }))

  it.effect("the first version of the policy, and an invalid one", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson
      const v1 = "/api/v1/notifications/policy"
      const first = yield* decode(NotificationPolicyV1)((yield* call("GET", v1, ada.token)).body)
      assert.deepStrictEqual([first.filter_private_mentions, first.filter_not_following], [true, false])
      yield* decide(ada, { for_new_accounts: "drop" })
      const changed = yield* call("PUT", v1, ada.token, {
        filter_not_following: "1",
        filter_new_accounts: true,
        filter_private_mentions: "false"
      })
      assert.deepStrictEqual(
        [changed.body.filter_not_following, changed.body.filter_new_accounts, changed.body.filter_private_mentions],
        [true, true, false]
      )
      const now = yield* decide(ada, { for_bots: "" })
      assert.deepStrictEqual([now.for_not_following, now.for_new_accounts, now.for_private_mentions, now.for_bots], [
        "filter",
        "drop",
        "accept",
        "accept"
      ])
      const refused = yield* call("PUT", policy, ada.token, { for_bots: "explode", for_not_following: "accept" })
      assert.deepStrictEqual([refused.status, refused.body.error], [
        422,
        "Validation failed: Policy is not included in the list"
      ])
      assert.strictEqual((yield* decide(ada, {})).for_not_following, "filter")
    }))

  it.effect("an app that names its known types gets others as text, in its language", () =>
    Effect.gen(function*() {
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      yield* follow(ben, ada)
      yield* post(ben, `@${ada.username} hello`)
      const fallbacks = (path: string) =>
        Effect.map(
          call("GET", path, ada.token),
          ({ body }) =>
            (body.notification_groups ?? body).map(({ fallback, type }: Record<string, unknown>) => [type, fallback])
        )
      const expected = { title: `@${ben.username} is now following you`, summary: null, description: null }
      for (const path of [list, "/api/v2/notifications"]) {
        assert.deepStrictEqual(yield* fallbacks(path), [["mention", undefined], ["follow", undefined]])
        assert.deepStrictEqual(yield* fallbacks(`${path}?supported_types[]=mention`), [
          ["mention", undefined],
          ["follow", expected]
        ])
      }
      const [, { id }] = (yield* call("GET", list, ada.token)).body
      const german = yield* call("GET", `${list}/${id}?supported_types[]=mention&lang=de`, ada.token)
      yield* decode(Notification)(german.body)
      assert.strictEqual(german.body.fallback.title, `@${ben.username} folgt dir jetzt`)
      const paged = yield* call("GET", `${list}?limit=1&supported_types[]=mention&include_filtered=true`, ada.token)
      assert.include(paged.headers.get("link"), "include_filtered=true&supported_types=mention")
    }))
})
