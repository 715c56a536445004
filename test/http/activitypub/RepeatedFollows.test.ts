import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { respond } from "./Exchange.ts"
import { actorOf, found, mentioning, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, servers } from "./Sending.ts"

/** Records the ids of the follows that the other server gets. */
const followsArrived = Effect.gen(function*() {
  const ids: Array<string> = []
  yield* respond("/users/zoe/inbox", (request, response) => {
    let text = ""
    request.on("data", (part) => text += String(part))
    request.on("end", () => {
      const { id, type } = JSON.parse(text)
      if (type === "Follow") ids.push(id)
      response.writeHead(202).end()
    })
  })
  return ids
})

/** Delivers a post by an account, which makes this server fetch its document if the key is unknown. */
const speak = (by: RemotePerson, name: string, more: Json = {}) =>
  deliverFrom(by, { type: "Create", object: note(by, name, more) })

const jobs = SqlClient.SqlClient.use((sql) => sql`SELECT FROM errands WHERE kind = 'refollow'`)

layer(servers, { excludeTestServices: true })("follows of an account whose keys changed", (it) => {
  it.effect("F435: are sent again with their ids when all keys are new, as after a loss of the other server's database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* followsArrived
      const [anna, bob] = [yield* newPerson("anna"), yield* newPerson("bob")]
      const before = yield* there("zoe")
      for (const person of [anna, bob]) {
        const { id } = yield* found(person, "zoe")
        yield* json(person, `/api/v1/accounts/${id}/follow`, {})
        const object = { type: "Follow", actor: yield* actorOf(person), object: before.id }
        yield* deliverFrom(before, { type: "Accept", object })
      }
      yield* eventually(Effect.sync(() => ids), (all) => all.length === 2)
      const sent = [...ids]

      const after = yield* there("zoe")
      assert.strictEqual(yield* speak(after, "first"), "done")
      assert.lengthOf(yield* jobs, 1)
      yield* sql`UPDATE errands SET due_at = now() WHERE kind = 'refollow'`
      yield* eventually(Effect.sync(() => ids), (all) => all.length === 4)
      assert.sameMembers(ids.slice(2), sent)
      assert.lengthOf(yield* jobs, 0)
    }))

  it.effect("F435: are not sent again when one of the keys remains", () =>
    Effect.gen(function*() {
      const { documents } = yield* OtherServer
      const carol = yield* newPerson("carol")
      const yan = yield* there("yan")
      yield* found(carol, "yan")
      const next = yield* there("yan")
      const path = new URL(yan.id).pathname
      const key = ({ publicPem }: RemotePerson, name: string) => ({
        id: `${yan.id}#${name}`,
        owner: yan.id,
        publicKeyPem: publicPem
      })
      documents.set(path, { ...documents.get(path), publicKey: [key(yan, "main-key"), key(next, "second")] })
      const carols = mentioning(yield* actorOf(carol))
      assert.strictEqual(yield* speak({ ...next, keyId: `${yan.id}#second` }, "second", carols), "done")
      assert.lengthOf(yield* jobs, 0)
    }))
})
