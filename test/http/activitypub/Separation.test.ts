import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import separatedQuotes from "../../../migrations/0081_separated_quotes.ts"
import { ask, json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { follows, resolved, serve } from "./Exchange.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"
import { countReferring, refer, ways } from "./WaysToRefer.ts"

/** Creates a local account with a publicly quotable post, and a remote account with local followers. */
const scene = Effect.fnUntraced(function*(name: string) {
  const [ada, bob, zoe] = [yield* newPerson(`ada${name}`), yield* newPerson(`bob${name}`), yield* there(`zoe${name}`)]
  const account = yield* found(bob, `zoe${name}`)
  yield* follows(bob.accountId, zoe.id)
  yield* json(ada, "/api/v1/accounts/update_credentials", { discoverable: true }, "PATCH")
  yield* json(ada, "/api/v2/notifications/policy", { for_not_following: "accept" }, "PATCH")
  const own = yield* publish(ada, "hello", { quote_approval_policy: "public" })
  const other = yield* publish(bob, "hello", { quote_approval_policy: "public" })
  const poll = yield* publish(ada, "really?", { poll: { options: ["yes", "no"], expires_in: 3600 } })
  return { ada, bob, zoe, account, to: { actor: yield* actorOf(ada), post: own.uri, poll: poll.uri, other: other.uri } }
})
type Scene = Effect.Success<ReturnType<typeof scene>>

layer(servers, { excludeTestServices: true })("blocks before policies", (it) => {
  /** Sends every way in turn; returns those with an effect. */
  const effective = Effect.fnUntraced(function*(name: string, { ada, to, zoe }: Scene) {
    const left: Array<string> = []
    for (const [way, send] of Object.entries(ways)) {
      const before = yield* countReferring(ada.accountId)
      yield* refer(send, zoe, to, `${name}-${way}`)
      if ((yield* countReferring(ada.accountId)) !== before) left.push(way)
    }
    return left
  })

  it.effect("F72: without a block both can refer to a local account", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* effective("open", yield* scene("open")), Object.keys(ways))
    }))

  it.effect("F72: an account that the author blocks cannot refer to the author in any way", () =>
    Effect.gen(function*() {
      const blocked = yield* scene("blocked")
      yield* json(blocked.ada, `/api/v1/accounts/${blocked.account.id}/block`, {})
      assert.deepStrictEqual(yield* effective("blocked", blocked), [])
    }))

  it.effect("F72: an account that blocks the author cannot refer to the author in any way", () =>
    Effect.gen(function*() {
      const blocking = yield* scene("blocking")
      yield* deliverFrom(blocking.zoe, { type: "Block", object: blocking.to.actor })
      assert.deepStrictEqual(yield* effective("blocking", blocking), [])
    }))

  it.effect("F72: a server that the author blocks cannot refer to the author in any way", () =>
    Effect.gen(function*() {
      const { domain } = yield* OtherServer
      const muted = yield* scene("muted")
      yield* json(muted.ada, "/api/v1/domain_blocks", { domain })
      assert.deepStrictEqual(yield* effective("muted", muted), [])
    }))

  it.effect("F72: posts that are fetched later are judged like delivered ones", () =>
    Effect.gen(function*() {
      for (const blocked of [false, true]) {
        const { account, ada, bob, to, zoe } = yield* scene(`late${blocked}`)
        if (blocked) yield* json(ada, `/api/v1/accounts/${account.id}/block`, {})
        const left: Array<string> = []
        const fetched: Array<string> = []
        for (const [way, send] of Object.entries(ways)) {
          const [first, ...more] = send(zoe, to, `late-${way}`)
          const object = first?.["object"]
          if (more.length > 0 || first?.["type"] !== "Create" || way === "vote" || way === "address") continue
          fetched.push(way)
          const document = Object.fromEntries(Object.entries(Object(object)))
          const before = yield* countReferring(ada.accountId)
          yield* serve(document)
          assert.lengthOf(yield* resolved(bob.token, document["id"]), 1, way)
          if ((yield* countReferring(ada.accountId)) !== before) left.push(way)
        }
        assert.deepStrictEqual(left, blocked ? [] : fetched)
        assert.isAtLeast(fetched.length, 7)
      }
    }))

  it.effect("F72: a block in either direction, or of the domain, outranks the quote policy for local accounts, too", () =>
    Effect.gen(function*() {
      const { account, ada, bob, to, zoe } = yield* scene("here")
      const quotes = (by: typeof ada, id: string) =>
        Effect.map(ask(by, "POST", "/api/v1/statuses", { status: "see", quoted_status_id: id }), ({ status }) => status)
      const id = to.post.slice(to.post.lastIndexOf("/") + 1)
      assert.strictEqual(yield* quotes(bob, id), 200)
      yield* json(bob, `/api/v1/accounts/${ada.accountId}/block`, {})
      assert.strictEqual(yield* quotes(bob, id), 404)
      yield* json(bob, `/api/v1/accounts/${ada.accountId}/unblock`, {})
      yield* json(ada, `/api/v1/accounts/${bob.accountId}/block`, {})
      assert.strictEqual(yield* quotes(bob, id), 404)
      const open = {
        interactionPolicy: { canQuote: { automaticApproval: ["https://www.w3.org/ns/activitystreams#Public"] } }
      }
      yield* deliverFrom(zoe, { type: "Create", object: note(zoe, "quotable", open) })
      const [post] = yield* json(ada, `/api/v1/accounts/${account.id}/statuses`)
      assert.strictEqual(yield* quotes(ada, post.id), 200)
      yield* json(ada, "/api/v1/domain_blocks", { domain: (yield* OtherServer).domain })
      assert.strictEqual(yield* quotes(ada, post.id), 404)
    }))

  it.effect("F72: a user's block of a domain revokes the quotes of its accounts, as a block of an account does", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { ada, to, zoe } = yield* scene("whole")
      const other = yield* scene("beside")
      const states = (of: bigint) =>
        Effect.map(
          sql<{ state: string }>`SELECT state FROM quotes WHERE quoted_account_id = ${of} ORDER BY status_id`,
          (rows) => rows.map(({ state }) => state)
        )
      for (const name of ["one", "two"]) {
        yield* deliverFrom(zoe, { type: "Create", object: note(zoe, `${name}-whole`, { quoteUri: to.post }) })
      }
      yield* deliverFrom(zoe, { type: "Create", object: note(zoe, "beside", { quoteUri: other.to.post }) })
      assert.deepStrictEqual(yield* states(ada.accountId), ["accepted", "accepted"])
      yield* json(ada, "/api/v1/domain_blocks", { domain: (yield* OtherServer).domain })
      yield* eventually(states(ada.accountId), (found) => found.every((state) => state === "revoked"))
      assert.deepStrictEqual(yield* states(other.ada.accountId), ["accepted"])
    }))

  it.effect("F72: quotes made in spite of a block are ended by the migration", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { account, ada, to, zoe } = yield* scene("old")
      const other = yield* scene("new")
      for (const { by, of } of [{ by: zoe, of: to.post }, { by: other.zoe, of: to.post }]) {
        yield* deliverFrom(by, { type: "Create", object: note(by, "old", { quoteUri: of }) })
      }
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id)
        VALUES (next_id(0), ${ada.accountId}, ${BigInt(account.id)})`
      yield* separatedQuotes
      const states = yield* sql`SELECT state FROM quotes WHERE quoted_account_id = ${ada.accountId} ORDER BY status_id`
      assert.deepStrictEqual(states, [{ state: "rejected" }, { state: "accepted" }])
      const id = to.post.slice(to.post.lastIndexOf("/") + 1)
      assert.deepStrictEqual(yield* sql`SELECT quotes_count FROM status_stats WHERE status_id = ${id}`, [{
        quotesCount: 1
      }])
    }))
})
