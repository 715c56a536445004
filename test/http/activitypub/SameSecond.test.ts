import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { newPerson, publish } from "../../support/Api.ts"
import { actorOf, found, there } from "./InboxCalls.ts"
import { type RemotePerson, sendBody, servers, settled } from "./Sending.ts"

const everybody = "https://www.w3.org/ns/activitystreams#Public"
/** Second in which everything is signed: `Date` has no fractions. */
const second = Math.floor(Date.now() / 1_000) * 1_000

const text = (by: RemotePerson, activity: Json) =>
  JSON.stringify({ "@context": "https://www.w3.org/ns/activitystreams", actor: by.id, ...activity })

layer(servers, { excludeTestServices: true })("activities within one second", (it) => {
  /** Creates a remote account with an action, its undo, and a check whether it is active. */
  const scene = Effect.fnUntraced(function*(type: string, name: string) {
    const sql = yield* SqlClient.SqlClient
    const [anna, zoe] = [yield* newPerson(`anna${name}`), yield* there(`zoe${name}`)]
    const account = yield* found(anna, `zoe${name}`)
    const written = yield* publish(anna, "hello")
    const [status, me, them] = [BigInt(written.id), yield* actorOf(anna), BigInt(account.id)]
    const rows = {
      Like: sql`SELECT FROM favourites WHERE status_id = ${status}`,
      EmojiReact: sql`SELECT FROM emoji_reactions WHERE status_id = ${status}`,
      Announce: sql`SELECT FROM statuses WHERE reblog_of_id = ${status} AND deleted_at IS NULL`,
      Follow: sql`SELECT FROM follows WHERE account_id = ${them}`,
      Block: sql`SELECT FROM blocks WHERE account_id = ${them}`
    }[type] ?? sql`SELECT`
    const id = `${zoe.id}#${name}`
    const object = type === "Follow" || type === "Block" ? me : written.uri
    const does = text(zoe, { id, type, object, to: [everybody], content: "🔥" })
    const undoes = text(zoe, {
      id: `${id}/undo`,
      type: "Undo",
      object: { id, type, actor: zoe.id, object, content: "🔥" }
    })
    return { zoe, does, undoes, inEffect: Effect.map(rows, ({ length }) => length > 0) }
  })

  for (const type of ["Like", "EmojiReact", "Announce", "Follow", "Block"]) {
    it.effect(`F101: of ${type} and Undo under one id within one second the last one to arrive counts`, () =>
      Effect.gen(function*() {
        const { does, inEffect, undoes, zoe } = yield* scene(type, type.toLowerCase())
        for (const [place, sent] of [does, undoes, does, undoes, does, does, undoes, undoes].entries()) {
          assert.strictEqual(yield* sendBody(zoe, sent, "/inbox", second), 202)
          yield* settled
          assert.strictEqual(yield* inEffect, sent === does, `${type} ${place}`)
        }
      }))
  }

  it.effect("F101: the order of arrival decides even without an activity in between", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const ends of [true, false]) {
        const { does, inEffect, undoes, zoe } = yield* scene("Like", `waiting${ends}`)
        const order = ends ? [does, undoes, does] : [does, undoes, does, undoes]
        const before = yield* sql`SELECT FROM inbound_activities`
        yield* Effect.forEach(order, (sent) => sendBody(zoe, sent, "/inbox", second), { discard: true })
        yield* settled
        assert.strictEqual(yield* inEffect, ends)
        // Each has one row, at the place of its last arrival.
        assert.lengthOf(yield* sql`SELECT FROM inbound_activities`, before.length + 2)
      }
    }))

  it.effect("F101: a repeated copy has no second effect, nor does one that arrives minutes later", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { does, inEffect, undoes, zoe } = yield* scene("Like", "copies")
      const send = (sent: string) => Effect.andThen(sendBody(zoe, sent, "/inbox", second), settled)
      const ids = sql`SELECT id FROM inbound_activities ORDER BY id`
      yield* send(does)
      const first = yield* ids
      yield* send(does)
      assert.deepStrictEqual(yield* ids, first)
      yield* send(undoes)
      yield* sql`UPDATE inbound_activities SET received_at = received_at - interval '5 minutes'`
      yield* send(does)
      assert.isFalse(yield* inEffect)
    }))
})
