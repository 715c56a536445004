import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually, follows, resolved, serve } from "./Exchange.ts"
import { actorOf, found, mentioning, there } from "./InboxCalls.ts"
import { sentOf } from "./QuoteDocuments.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, servers } from "./Sending.ts"
import { storedNote } from "./StoredNotes.ts"

const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** Forms in which servers refer to one object. */
const forms: Readonly<Record<string, (type: string, id: string) => unknown>> = {
  id: (_, id) => id,
  listOfId: (_, id) => [id],
  object: (_, id) => ({ id }),
  part: (type, id) => ({ type, id }),
  listOfPart: (type, id) => [{ type, id }]
}

/** Creates a remote account with a local follower. */
const scene = Effect.fnUntraced(function*(name: string) {
  const featured = `${(yield* OtherServer).url}/users/zoe${name}/featured`
  const [ada, zoe] = [yield* newPerson(`ada${name}`), yield* there(`zoe${name}`, { featured })]
  const account = yield* found(ada, `zoe${name}`)
  yield* follows(ada.accountId, zoe.id)
  return { ada, zoe, account, featured, actor: yield* actorOf(ada) }
})

/** Waits until a query returns a row. */
const present = <E, R>(query: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  eventually(Effect.map(query, ([row]) => row))

/** Makes a note without an audience. */
const bare = (by: RemotePerson, name: string, more: Json = {}): Json => {
  const { cc: _, to: __, ...rest } = note(by, name)
  return { ...rest, published: new Date().toISOString(), ...more }
}

layer(servers, { excludeTestServices: true })("forms of activities", (it) => {
  it.effect("F80: a post that names no audience has that of its activity, and no wider one", () =>
    Effect.gen(function*() {
      const { actor, zoe } = yield* scene("1")
      const followers = `${zoe.id}/followers`
      const visibility = (name: string) =>
        Effect.map(storedNote(`${zoe.id}/notes/${name}`), (stored) => stored?.visibility)
      const cases: ReadonlyArray<readonly [Json, Json, string]> = [
        [{}, { to: [everybody], cc: [followers] }, "public"],
        [{ cc: [followers] }, { to: [everybody] }, "public"],
        [{}, { to: everybody }, "public"],
        [{}, { to: [followers], cc: ["as:Public"] }, "unlisted"],
        [{ to: [followers] }, { to: [everybody], cc: [everybody] }, "unlisted"],
        [{}, { to: [followers] }, "private"],
        [{}, { to: [actor] }, "direct"],
        [{}, {}, "direct"],
        [{ to: [actor], cc: [] }, { to: [everybody], cc: [followers] }, "direct"],
        [{ to: [], cc: [followers] }, { to: [everybody], cc: [everybody] }, "private"]
      ]
      for (const [place, [object, activity, expected]] of cases.entries()) {
        const [created, edited] = [`create${place}`, `update${place}`]
        yield* deliverFrom(zoe, { type: "Create", object: bare(zoe, created, object), ...activity })
        assert.strictEqual(yield* visibility(created), expected, `Create ${place}`)
        const updated = { updated: new Date().toISOString(), ...object }
        yield* deliverFrom(zoe, { type: "Update", object: bare(zoe, edited, updated), ...activity })
        assert.strictEqual(yield* visibility(edited), expected, `Update ${place}`)
        if (expected === "direct") continue
        const boosted = `boost${place}`
        yield* deliverFrom(zoe, { type: "Announce", object: bare(zoe, boosted, object), ...activity })
        assert.strictEqual(yield* visibility(boosted), expected, `Announce ${place}`)
      }
    }))

  it.effect("F80: a post that is fetched by its activity has the activity's audience", () =>
    Effect.gen(function*() {
      const { ada, zoe } = yield* scene("2")
      const object = bare(zoe, "fetched")
      const create = { id: `${zoe.id}/creates/1`, type: "Create", actor: zoe.id, object: object["id"], to: [everybody] }
      yield* serve(object, create)
      yield* resolved(ada.token, create.id)
      assert.deepInclude(yield* storedNote(object["id"]), { visibility: "public" })
    }))

  it.effect("F80: a boost without recipients has the post's audience, one with recipients has these", () =>
    Effect.gen(function*() {
      const { ada, zoe } = yield* scene("3")
      const sql = yield* SqlClient.SqlClient
      const cases: ReadonlyArray<readonly [string, Json, string]> = [
        ["public", {}, "public"],
        ["unlisted", {}, "unlisted"],
        ["public", { cc: [everybody] }, "unlisted"],
        ["public", { to: [] }, "private"],
        ["public", { cc: [`${zoe.id}/followers`] }, "private"],
        ["public", { bto: [zoe.id] }, "private"]
      ]
      for (const [visibility, audience, expected] of cases) {
        const boosted = yield* publish(ada, "boost me", { visibility })
        assert.strictEqual(yield* deliverFrom(zoe, { type: "Announce", object: boosted.uri, ...audience }), "done")
        const [boost] = yield* sql`SELECT visibility FROM statuses WHERE reblog_of_id = ${BigInt(boosted.id)}`
        assert.deepStrictEqual(boost, { visibility: expected }, JSON.stringify(audience))
      }
    }))

  it.effect("F80: Like, Announce, Undo, Follow, Block and Delete find their object in every form of its id", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { account, actor, ada, zoe } = yield* scene("4")
      const zoeId = BigInt(account.id)
      const count = (rows: ReadonlyArray<unknown>) => rows.length
      for (const [form, named] of Object.entries(forms)) {
        const liked = yield* publish(ada, form)
        const statusId = BigInt(liked.id)
        const likes = Effect.map(sql`SELECT FROM favourites WHERE status_id = ${statusId}`, count)
        const boosts = Effect.map(
          sql`SELECT FROM statuses WHERE reblog_of_id = ${statusId} AND deleted_at IS NULL`,
          count
        )
        const asked = Effect.map(sql`SELECT FROM follows WHERE account_id = ${zoeId}`, count)
        const blocks = Effect.map(sql`SELECT FROM blocks WHERE account_id = ${zoeId}`, count)
        const acts: ReadonlyArray<readonly [string, string, Effect.Effect<number, unknown>]> = [
          ["Like", liked.uri, likes],
          ["Announce", liked.uri, boosts],
          ["Follow", actor, asked],
          ["Block", actor, blocks]
        ]
        for (const [type, object, standing] of acts) {
          const id = `${zoe.id}/acts/${form}-${type}`
          yield* deliverFrom(zoe, { id, type, object: named("Thing", object) })
          assert.strictEqual(yield* standing, 1, `${type} ${form}`)
          yield* deliverFrom(zoe, { type: "Undo", object: named(type, id) })
          assert.strictEqual(yield* standing, 0, `Undo ${type} ${form}`)
        }
        // The block has ended Ada's follow.
        yield* follows(ada.accountId, zoe.id)
        const written = note(zoe, `deleted-${form}`)
        yield* deliverFrom(zoe, { type: "Create", object: written })
        yield* deliverFrom(zoe, { type: "Delete", object: named("Tombstone", String(written["id"])) })
        assert.deepInclude(yield* storedNote(written["id"]), { gone: true }, form)
      }
    }))

  it.effect("F80: Create, Update, Add, Remove and Flag find their object in every form of its id", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { account, actor, ada, featured, zoe } = yield* scene("5")
      const pins = Effect.map(
        json(ada, `/api/v1/accounts/${account.id}/statuses?pinned=true`),
        (all: ReadonlyArray<{ uri: string }>) => all.map(({ uri }) => uri)
      )
      for (const [form, named] of Object.entries(forms)) {
        const written = note(zoe, `named-${form}`, { published: new Date().toISOString() })
        const id = String(written["id"])
        yield* serve(written)
        yield* deliverFrom(zoe, { type: "Create", object: named("Note", id), to: [everybody] })
        yield* eventually(storedNote(id))
        const [stored] = yield* sql`SELECT html FROM statuses WHERE uri = ${id}`
        assert.deepStrictEqual(stored, { html: `<p>named-${form}</p>` })
        yield* serve({ ...written, content: "<p>edited</p>", updated: new Date().toISOString() })
        yield* deliverFrom(zoe, { type: "Update", object: named("Note", id) })
        yield* present(sql`SELECT FROM statuses WHERE uri = ${id} AND html = '<p>edited</p>'`)
        yield* deliverFrom(zoe, { type: "Add", object: named("Note", id), target: named("Collection", featured) })
        assert.deepStrictEqual(yield* pins, [id], form)
        yield* deliverFrom(zoe, { type: "Remove", object: named("Note", id), target: named("Collection", featured) })
        assert.deepStrictEqual(yield* pins, [], form)
        const before = yield* sql`SELECT FROM reports`
        yield* deliverFrom(zoe, { type: "Flag", object: named("Person", actor), content: form })
        assert.lengthOf(yield* sql`SELECT FROM reports`, before.length + 1, form)
      }
    }))

  it.effect("F80: Accept and Reject find the follow in every form of its id", () =>
    Effect.gen(function*() {
      for (const [form, named] of Object.entries(forms)) {
        const [ben, yan] = [yield* newPerson(`ben${form.toLowerCase()}`), yield* there(`yan${form.toLowerCase()}`)]
        const { id } = yield* found(ben, yan.name)
        const followed = Effect.map(
          json(ben, `/api/v1/accounts/relationships?id[]=${id}`),
          ([{ following, requested }]) => ({ following, requested })
        )
        yield* json(ben, `/api/v1/accounts/${id}/follow`, {})
        const request = Effect.map(sentOf("Follow"), (all) =>
          String(all.findLast(({ object }) => object === yan.id)?.["id"]))
        yield* deliverFrom(yan, { type: "Accept", object: named("Follow", yield* request) })
        assert.deepStrictEqual(yield* followed, { following: true, requested: false }, `Accept ${form}`)
        yield* deliverFrom(yan, { type: "Reject", object: named("Follow", yield* request) })
        assert.deepStrictEqual(yield* followed, { following: false, requested: false }, `Reject ${form}`)
      }
    }))

  it.effect("F80: a collection of accounts that is only named is fetched from its server", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const featuredCollections = `${(yield* OtherServer).url}/users/quinn/lists`
      const [cleo, quinn] = [yield* newPerson("cleo"), yield* there("quinn", { featuredCollections })]
      yield* found(cleo, "quinn")
      for (const [form, named] of Object.entries(forms)) {
        const id = `${quinn.id}/collections/${form}`
        const states = (name: string) =>
          serve({ id: featuredCollections, type: "OrderedCollection", orderedItems: [id] }, {
            id,
            type: "FeaturedCollection",
            attributedTo: quinn.id,
            name,
            orderedItems: []
          })
        const names = (name: string) => present(sql`SELECT FROM collections WHERE uri = ${id} AND name = ${name}`)
        yield* states("birds")
        yield* deliverFrom(quinn, { type: "Add", object: named("FeaturedCollection", id), target: featuredCollections })
        yield* names("birds")
        yield* states("cats")
        yield* deliverFrom(quinn, { type: "Update", object: named("FeaturedCollection", id) })
        yield* names("cats")
      }
    }))

  it.effect("F80: an object with content of its own does not refer to another, and a list of several refers to none", () =>
    Effect.gen(function*() {
      const { actor, zoe } = yield* scene("6")
      const [one, two] = [note(zoe, "one", mentioning(actor)), note(zoe, "two", mentioning(actor))]
      assert.match((yield* deliverFrom(zoe, { type: "Create", object: [one, two] })) ?? "", /ignored/)
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: [one] }), "done")
      const reply = note(zoe, "reply", { ...mentioning(actor), inReplyTo: [one["id"]] })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object: reply }), "done")
      assert.isNotNull((yield* storedNote(reply["id"]))?.replyTo)
    }))
})
