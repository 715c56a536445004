import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeKeyOperations from "../../../src/layers/NodeKeyOperations.ts"
import { peer } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { counting } from "../../support/StatementCounter.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { follows } from "./Exchange.ts"
import { found, there, told } from "./InboxCalls.ts"
import { note, OtherServer, type RemotePerson, send, settled } from "./Sending.ts"

/** Number of statements that the server has run. */
class Statements extends Context.Service<Statements, () => number>()("murmuration/test/Statements") {}

const counted = Layer.unwrap(Effect.gen(function*() {
  const { statements, url } = yield* counting((yield* TestDatabase).url)
  return Layer.merge(
    Layer.effect(OtherServer, peer).pipe(
      Layer.provideMerge(NodeKeyOperations.layer),
      Layer.provideMerge(TestServer.layerOnly({ OUTBOUND_ALLOW: "127.0.0.0/8", DATABASE_URL: url }))
    ),
    Layer.succeed(Statements, statements)
  )
})).pipe(Layer.provideMerge(TestDatabase.layer))

const everybody = ["https://www.w3.org/ns/activitystreams#Public"]
const names = Array.from({ length: 12 }, (_, at) => `sender${at}`)
const outcomes = SqlClient.SqlClient.use((sql) =>
  sql<{ outcome: string | null; count: number }>`SELECT outcome, count(*)::int AS count FROM inbound_activities
    GROUP BY outcome ORDER BY outcome`
)

layer(counted, { excludeTestServices: true })("concurrent activities of many servers", (it) => {
  it.effect("I7, I8: each activity takes effect once, and one that always fails does not affect others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const anna = yield* newPerson("anna")
      const status = yield* publish(anna, "hello")
      const hidden = yield* publish(anna, "not for them", { visibility: "direct" })
      const senders: Array<RemotePerson> = []
      for (const name of names) {
        senders.push(yield* there(name))
        yield* found(anna, name)
      }
      for (const { id } of senders) yield* follows(anna.accountId, id)
      yield* sql`ALTER TABLE statuses ADD CONSTRAINT poison CHECK (html <> '<p>poison</p>')`
      const all = senders.flatMap((by, at) => [
        send(by, { type: "Create", object: note(by, at % 4 === 0 ? "poison" : "post") }),
        send(by, { type: "Like", object: status.uri }),
        send(by, { type: "Like", object: `${status.uri}0` }),
        send(by, { type: "Announce", object: status.uri, to: everybody }),
        send(by, { type: "Create", object: note(by, "other") }),
        send(by, { type: "Like", object: hidden.uri })
      ])
      yield* Effect.all(all, { concurrency: 20 })
      yield* settled
      assert.deepStrictEqual(yield* outcomes, [
        { outcome: "done", count: 45 },
        { outcome: "ignored: Record not found", count: 12 },
        { outcome: "ignored: an unknown post", count: 12 },
        { outcome: null, count: 3 }
      ])
      assert.deepStrictEqual(
        yield* sql`SELECT html, count(*)::int AS n FROM statuses WHERE NOT local AND html <> '' GROUP BY html ORDER BY html`,
        [{ html: "<p>other</p>", n: 12 }, { html: "<p>post</p>", n: 9 }]
      )
      const figures = yield* json(anna, `/api/v1/statuses/${status.id}`)
      assert.deepInclude(figures, { favourites_count: 12, reblogs_count: 12 })
      const stats = yield* sql`SELECT DISTINCT statuses_count FROM account_stats WHERE account_id IN (
        SELECT id FROM accounts WHERE domain IS NOT NULL) ORDER BY 1`
      assert.deepStrictEqual(stats, [{ statusesCount: 2 }, { statusesCount: 3 }])
      assert.lengthOf(yield* told(anna), 24)
      assert.lengthOf(yield* json(anna, "/api/v1/timelines/home?limit=40"), 23)
      yield* sql`ALTER TABLE statuses DROP CONSTRAINT poison`
    }))

  it.effect("posts, likes and boosts of many take few statements each, from the inbox to the last effect", () =>
    Effect.gen(function*() {
      const statements = yield* Statements
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM inbound_activities`
      const ben = yield* newPerson("ben")
      const status = yield* publish(ben, "hello")
      const senders: Array<RemotePerson> = []
      for (const name of names) {
        senders.push(yield* there(`${name}b`))
        yield* found(ben, `${name}b`)
      }
      for (const { id } of senders) yield* follows(ben.accountId, id)
      // The first activity of a sender creates its actor and fetches its key.
      yield* Effect.forEach(senders, (by) => send(by, { type: "Create", object: note(by, "first") }))
      yield* settled
      const before = statements()
      const all = Array.from({ length: 10 }, (_, at) =>
        senders.map((by) =>
          at === 0
            ? send(by, { type: "Like", object: status.uri })
            : at === 1
            ? send(by, { type: "Announce", object: status.uri, to: everybody })
            : send(by, { type: "Create", object: note(by, `post${at}`) })
        )).flat()
      yield* Effect.all(all, { concurrency: 32 })
      yield* settled
      const each = (statements() - before) / all.length
      assert.deepStrictEqual(yield* outcomes, [{ outcome: "done", count: 132 }])
      assert.isBelow(each, 4, `${each} statements an activity`)
    }))

  it.effect("I13: after a takeover the previous owner does not process an account's activities", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const zed = yield* there("zed")
      const nothing = "ignored: irrelevant to local accounts"
      yield* send(zed, { type: "Create", object: note(zed, "before") })
      assert.strictEqual(yield* settled, nothing)
      const epoch = Effect.map(
        sql<
          { epoch: bigint }
        >`SELECT epoch FROM actors WHERE account_id = (SELECT id FROM accounts WHERE uri = ${zed.id})`,
        ([row]) => row?.epoch ?? 0n
      )
      yield* sql`UPDATE actors SET epoch = epoch + 1`
      const taken = yield* epoch
      yield* send(zed, { type: "Create", object: note(zed, "after") })
      assert.strictEqual(yield* settled, nothing)
      // The previous owner had to acquire ownership again, which only the transaction of its work could notice.
      assert.strictEqual(yield* epoch, taken + 1n)
    }))
})
