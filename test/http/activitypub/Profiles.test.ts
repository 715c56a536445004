import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { type Person } from "../../support/Server.ts"
import { eventually, follows, respond, serve, timesAsked } from "./Exchange.ts"
import { deliverFrom, note, OtherServer, send, servers } from "./Sending.ts"

const published = new Date(Date.now() - 3_600_000).toISOString()
const collections = ["outbox", "followers", "following", "featured"] as const

/** Creates a known remote account whose collections have these totals. */
const somebody = Effect.fnUntraced(function*(me: Person, name: string, totals: Readonly<Record<string, unknown>> = {}) {
  const { actor, domain, url } = yield* OtherServer
  const id = `${url}/users/${name}`
  const them = yield* actor(name, Object.fromEntries(collections.map((field) => [field, `${id}/${field}`])))
  for (const field of collections) {
    yield* serve({ id: `${id}/${field}`, type: "OrderedCollection", totalItems: totals[field] ?? 0, orderedItems: [] })
  }
  const found = yield* json(me, `/api/v2/search?resolve=true&q=${name}@${domain}`)
  const accountId: string = found.accounts[0].id
  return { ...them, accountId }
})
const create = (by: { id: string }, post: Json, more: Json = {}) => ({
  id: `${String(post["id"])}/activity`,
  type: "Create",
  actor: by.id,
  object: post,
  ...more
})
const posts = (me: Person, accountId: string, more = "") =>
  Effect.map(
    json(me, `/api/v1/accounts/${accountId}/statuses${more}`),
    (list: ReadonlyArray<{ uri: string }>) => list.map(({ uri }) => uri)
  )
/** Waits until all work started by a view is done. */
const over = (accountId: string) =>
  eventually(Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql`SELECT FROM look_ups WHERE kind = 'profile' AND subject_id = ${BigInt(accountId)} AND ended_at IS NOT NULL`,
      (rows) => rows.length > 0 ? true : undefined
    )))

layer(servers, { excludeTestServices: true })("profiles of other servers", (it) => {
  it.effect("S-134, S-137: the first view fetches posts, pins and counts, at most once a day", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna")
      const zoe = yield* somebody(anna, "zoe", { outbox: 321, followers: 1_234, following: 56 })
      const named = (name: string) => note(zoe, name, { published })
      const [whole, byId, pinned, second] = [named("whole"), named("byId"), named("pinned"), named("second")]
      yield* serve(whole, byId, pinned, second)
      yield* serve({
        id: `${zoe.id}/outbox`,
        type: "OrderedCollection",
        totalItems: 321,
        first: `${zoe.id}/outbox/1`
      }, {
        id: `${zoe.id}/outbox/1`,
        type: "OrderedCollectionPage",
        orderedItems: [
          create(zoe, whole),
          create(zoe, byId, { object: byId["id"] }),
          { id: `${zoe.id}/boost`, type: "Announce", actor: zoe.id, object: "https://elsewhere.test/1" }
        ],
        next: `${zoe.id}/outbox/2`
      }, {
        id: `${zoe.id}/featured`,
        type: "OrderedCollection",
        orderedItems: [pinned, second["id"]]
      })
      assert.isEmpty(yield* posts(anna, zoe.accountId))
      yield* over(zoe.accountId)
      assert.sameMembers<unknown>(
        [...yield* posts(anna, zoe.accountId)],
        [whole, byId, pinned, second].map(({ id }) => id)
      )
      assert.deepStrictEqual<unknown>(yield* posts(anna, zoe.accountId, "?pinned=true"), [pinned["id"], second["id"]])
      assert.deepInclude(yield* json(anna, `/api/v1/accounts/${zoe.accountId}`), {
        followers_count: 1_234,
        following_count: 56,
        statuses_count: 321
      })
      assert.strictEqual(yield* timesAsked(`${zoe.id}/outbox`), 1)
      assert.strictEqual(yield* timesAsked(`${zoe.id}/outbox/2`), 0)
    }))

  it.effect("S-010: a pin change during a fetch of the collection is not reverted by it", () =>
    Effect.gen(function*() {
      const hugo = yield* newPerson("hugo")
      const tess = yield* somebody(hugo, "tess")
      const [one, two, three] = ["one", "two", "three"].map((name) => note(tess, name, { published }))
      yield* serve(one!, two!, three!)
      const ids = [one, two, three].map((post) => String(post?.["id"]))
      let stale: (() => void) | undefined
      const collection = (...items: ReadonlyArray<unknown>) =>
        JSON.stringify({
          "@context": "https://www.w3.org/ns/activitystreams",
          id: `${tess.id}/featured`,
          type: "OrderedCollection",
          orderedItems: items
        })
      const headers = { "content-type": "application/activity+json" }
      yield* respond("/users/tess/featured", (_, response) => {
        if (stale !== undefined) response.writeHead(200, headers).end(collection(ids[2], ids[1]))
        else stale = () => response.writeHead(200, headers).end(collection(ids[1], ids[0]))
      })
      const pinned = posts(hugo, tess.accountId, "?pinned=true")
      yield* pinned
      const late = yield* eventually(Effect.sync(() => stale))
      const change = (type: string, object: unknown) =>
        deliverFrom(tess, { type, object, target: `${tess.id}/featured` })
      for (const post of [one, two, three]) {
        yield* send(tess, { type: "Add", object: post?.["id"], target: `${tess.id}/featured` })
        yield* eventually(Effect.map(pinned, (uris) => uris[0] === post?.["id"] || undefined))
      }
      yield* change("Remove", ids[0])
      late()
      yield* over(tess.accountId)
      assert.deepStrictEqual(yield* pinned, [ids[2], ids[1]])
      assert.strictEqual(yield* timesAsked(`${tess.id}/featured`), 2)
    }))

  it.effect("rows 1, 9: posts of others in an outbox or a featured collection are ignored", () =>
    Effect.gen(function*() {
      const ben = yield* newPerson("ben")
      const [yan, victim] = [yield* somebody(ben, "yan"), yield* somebody(ben, "victim")]
      const mine = note(yan, "mine", { published })
      const forged = note(victim, "forged", { published })
      const items = [
        create(yan, forged),
        create(victim, { ...forged, attributedTo: yan.id }),
        create(yan, { ...mine, id: "https://elsewhere.test/1" }),
        create(yan, { ...mine, id: `${yan.id}/notes/false`, attributedTo: victim.id })
      ]
      const real = note(victim, "real", { published })
      yield* serve(
        real,
        { id: `${yan.id}/outbox`, type: "OrderedCollection", orderedItems: [...items, create(yan, mine)] },
        { id: `${yan.id}/featured`, type: "OrderedCollection", orderedItems: [forged, real["id"], mine] }
      )
      yield* posts(ben, yan.accountId)
      yield* over(yan.accountId)
      assert.deepStrictEqual<unknown>(yield* posts(ben, yan.accountId), [mine["id"]])
      assert.deepStrictEqual<unknown>(yield* posts(ben, yan.accountId, "?pinned=true"), [mine["id"]])
      assert.notInclude<unknown>([...yield* posts(ben, victim.accountId)], forged["id"])
      assert.isEmpty(yield* posts(ben, victim.accountId, "?pinned=true"))
    }))

  it.effect("row 34: an endless outbox is read for twenty posts, one that is its own next page for one page", () =>
    Effect.gen(function*() {
      const cleo = yield* newPerson("cleo")
      const xena = yield* somebody(cleo, "xena")
      const many = Array.from({ length: 50 }, (_, n) => create(xena, note(xena, `n${n}`, { published })))
      yield* serve({
        id: `${xena.id}/outbox`,
        type: "OrderedCollection",
        orderedItems: many,
        next: `${xena.id}/outbox`
      })
      yield* posts(cleo, xena.accountId)
      yield* over(xena.accountId)
      assert.lengthOf(yield* posts(cleo, xena.accountId, "?limit=40"), 20)
    }))

  it.effect("accounts whose posts are delivered are not polled; visitors cause no fetch", () =>
    Effect.gen(function*() {
      const dora = yield* newPerson("dora")
      const [wim, vic] = [yield* somebody(dora, "wim", { followers: 7 }), yield* somebody(dora, "vic")]
      yield* follows(dora.accountId, wim.id)
      yield* serve({ id: `${wim.id}/outbox`, type: "OrderedCollection", orderedItems: [create(wim, note(wim, "x"))] })
      yield* json(dora, `/api/v1/accounts/${wim.accountId}`)
      yield* over(wim.accountId)
      assert.isEmpty(yield* posts(dora, wim.accountId))
      assert.strictEqual((yield* json(dora, `/api/v1/accounts/${wim.accountId}`)).followers_count, 7)
      yield* json(undefined, `/api/v1/accounts/${vic.accountId}/statuses`)
      yield* json(undefined, `/api/v1/accounts/${vic.accountId}`)
      assert.strictEqual(yield* timesAsked(`${vic.id}/outbox`), 0)
    }))

  it.effect("a profile that was fetched more than a day ago is fetched again", () =>
    Effect.gen(function*() {
      const emil = yield* newPerson("emil")
      const uwe = yield* somebody(emil, "uwe")
      const { documents } = yield* OtherServer
      const document = documents.get("/users/uwe")
      assert.isObject(document)
      documents.set("/users/uwe", { ...document, name: "Uwe the second" })
      const shown = Effect.map(json(emil, `/api/v1/accounts/${uwe.accountId}`), (account) => account.display_name)
      assert.strictEqual(yield* shown, "")
      yield* over(uwe.accountId)
      assert.strictEqual(yield* shown, "")
      const tim = yield* somebody(emil, "tim")
      documents.set("/users/tim", { ...document, id: tim.id, preferredUsername: "tim", name: "Tim the second" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE remote_actors SET fetched_at = ${new Date(Date.now() - 25 * 3_600_000)}
        WHERE account_id = ${BigInt(tim.accountId)}`
      const seen = yield* eventually(Effect.map(
        json(emil, `/api/v1/accounts/${tim.accountId}`),
        (account) => account.display_name || undefined
      ))
      assert.strictEqual(seen, "Tim the second")
    }))
})
