import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { ask, json, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { staffMember } from "../../support/Staff.ts"
import { respond } from "./Exchange.ts"
import { actorOf, found, mentioning, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, servers } from "./Sending.ts"

/** Records the ids of the follows that an account of the other server gets. */
const followsArrived = Effect.fnUntraced(function*(name: string) {
  const ids: Array<string> = []
  yield* respond(`/users/${name}/inbox`, (request, response) => {
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

const forgetJobs = SqlClient.SqlClient.use((sql) => sql`DELETE FROM errands WHERE kind = 'refollow'`)

layer(servers, { excludeTestServices: true })("follows of an account whose keys changed", (it) => {
  it.effect("F435: are sent again with their ids when all keys are new, as after a loss of the other server's database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* followsArrived("zoe")
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

  it.effect("F482, F483: requests are sent again, too, and all at most once a day, whatever the keys do", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* followsArrived("wim")
      const erin = yield* newPerson("erin")
      yield* there("wim")
      const { id } = yield* found(erin, "wim")
      yield* json(erin, `/api/v1/accounts/${id}/follow`, {})
      yield* eventually(Effect.sync(() => ids), (all) => all.length === 1)
      yield* speak(yield* there("wim"), "first")
      yield* sql`UPDATE errands SET due_at = now() WHERE kind = 'refollow'`
      yield* eventually(Effect.sync(() => ids), (all) => all.length === 2)
      assert.strictEqual(ids[1], ids[0])
      yield* eventually(jobs, (all) => all.length === 0)
      const resent =
        sql`SELECT FROM remote_actors WHERE account_id = ${id} AND refollowed_at > now() - interval '1 hour'`
      assert.lengthOf(yield* resent, 1)

      yield* there("vic")
      const vic = yield* found(erin, "vic")
      yield* sql`UPDATE remote_actors SET refollowed_at = now() - interval '1 hour' WHERE account_id = ${vic.id}`
      yield* speak(yield* there("vic"), "first")
      const [job] = yield* sql<{ hours: number }>`SELECT round(extract(epoch FROM due_at - now()) / 3600)::int AS hours
        FROM errands WHERE kind = 'refollow' AND subject_id = ${vic.id}`
      assert.strictEqual(job?.hours, 23)
      yield* forgetJobs
    }))

  it.effect("F484: a reinstalled server may use ids of deleted posts again, but not of those that a moderator deleted", () =>
    Effect.gen(function*() {
      const dora = yield* newPerson("dora")
      const doras = mentioning(yield* actorOf(dora))
      const before = yield* there("uma")
      yield* found(dora, "uma")
      assert.strictEqual(yield* speak(before, "one", doras), "done")
      const object = `${before.id}/notes/one`
      yield* deliverFrom(before, { type: "Delete", object: { type: "Tombstone", id: object } })
      assert.notStrictEqual(yield* speak(before, "one", doras), "done")
      assert.strictEqual(yield* speak(before, "spam", doras), "done")
      const [{ status: spam }] = yield* json(dora, "/api/v1/notifications")
      const moderator = yield* staffMember("mona", ["manageReports", "manageUsers"])
      const deletion = { type: "delete", status_ids: [spam.id] }
      assert.strictEqual((yield* ask(moderator, "POST", "/api/v1/admin/status_actions", deletion)).status, 200)

      const after = yield* there("uma")
      assert.strictEqual(yield* speak(after, "two", doras), "done")
      assert.strictEqual(yield* speak(after, "one", doras), "done")
      const [newest] = yield* json(dora, "/api/v1/notifications")
      assert.strictEqual(newest.status.uri, object)
      assert.strictEqual(yield* speak(after, "spam", doras), "ignored: already stored")
      yield* forgetJobs
    }))

  it.effect("F485: the same key with other line breaks is no new key, also for a deleted account", () =>
    Effect.gen(function*() {
      const { documents } = yield* OtherServer
      const finn = yield* newPerson("finn")
      const finns = mentioning(yield* actorOf(finn))
      const tom = yield* there("tom")
      yield* found(finn, "tom")
      const path = new URL(tom.id).pathname
      const publicKeyPem = `${tom.publicPem.trim().replaceAll("\n", "\r\n")}\r\n`
      assert.notStrictEqual(publicKeyPem, tom.publicPem)
      const id = `${tom.id}#renamed`
      documents.set(path, { ...documents.get(path), publicKey: { id, owner: tom.id, publicKeyPem } })
      assert.strictEqual(yield* speak({ ...tom, keyId: id }, "first", finns), "done")
      assert.lengthOf(yield* jobs, 0)

      yield* deliverFrom({ ...tom, keyId: id }, { type: "Delete", object: tom.id })
      documents.set(path, {
        ...documents.get(path),
        publicKey: { id: tom.keyId, owner: tom.id, publicKeyPem: tom.publicPem }
      })
      assert.isUndefined(yield* found(finn, "tom"))
    }))
})
