import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import type { ServerResponse } from "node:http"
import { FetchLimits } from "../../../src/services/federation/fetching/Budget.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { sendJson } from "../../services/outbound/FarHosts.ts"
import { json, newPerson } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { eventually, resolved, respond, serve, timesAsked } from "./Exchange.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))
const published = new Date(Date.now() - 3_600_000).toISOString()
const context = { "@context": "https://www.w3.org/ns/activitystreams" }

/** Limits that are small enough for a test to reach them. */
const limits = { statuses: 12, accounts: 5, pages: 20, pagesPerCollection: 3, repliesOfNew: 2, repliesOfRead: 8 }

const idOf = (me: Person, uri: unknown) =>
  Effect.map(
    json(me, `/api/v2/search?resolve=true&q=${encodeURIComponent(String(uri))}`),
    ({ statuses }): string => statuses[0]?.id
  )
/** Returns the conversation of a status, by remote ids, and whether a fetch is in flight. */
const conversation = (me: Person, id: string) =>
  TestServer.use(({ fetch }) =>
    Effect.flatMap(
      fetch(`/api/v1/statuses/${id}/context`, { token: me.token }),
      (response) =>
        Effect.promise(async () => {
          const uris = (list: ReadonlyArray<{ uri: string }>) => list.map(({ uri }) => uri)
          const { ancestors, descendants } = JSON.parse(await response.text())
          return {
            refresh: response.headers.get("mastodon-async-refresh"),
            ancestors: uris(ancestors),
            descendants: uris(descendants)
          }
        })
    )
  )
/** Returns the thread once no fetch is in flight. */
const whole = (me: Person, id: string) =>
  eventually(Effect.map(conversation(me, id), (found) => found.refresh === null ? found : undefined))

const small = servers.pipe(Layer.provide(Layer.succeed(FetchLimits, limits)))

layer(small, { excludeTestServices: true })("conversations of other servers", (it) => {
  it.effect("S-196: reading a thread fetches its parents and replies, once, and reports the fetch", () =>
    Effect.gen(function*() {
      const [anna, zoe, yan] = [yield* newPerson("anna"), yield* there("zoe"), yield* there("yan")]
      const posts = (by: typeof zoe, name: string, more: Json) => note(by, name, { published, ...more })
      const top = posts(zoe, "top", {})
      const middle = posts(yan, "middle", { inReplyTo: top["id"] })
      const child = posts(zoe, "child", { inReplyTo: `${zoe.id}/notes/read` })
      const grandchild = posts(yan, "grandchild", { inReplyTo: child["id"] })
      const stray = posts(yan, "stray", { inReplyTo: top["id"] })
      const collection = `${zoe.id}/replies`
      const read = posts(zoe, "read", { inReplyTo: middle["id"], replies: collection })
      yield* serve(top, middle, read, grandchild, stray, {
        ...child,
        replies: { type: "Collection", items: [grandchild] }
      })
      yield* serve({
        id: collection,
        type: "Collection",
        first: { type: "CollectionPage", items: [], next: `${collection}/2` }
      })
      yield* serve({
        id: `${collection}/2`,
        type: "CollectionPage",
        items: [child["id"], stray["id"], "https://nowhere.test/x"]
      })
      const id = yield* idOf(anna, read["id"])
      const first = yield* conversation(anna, id)
      assert.match(first.refresh ?? "", /^id="[\w-]+", retry=\d+, result_count=\d+$/)
      const refresh = /id="([^"]+)"/.exec(first.refresh ?? "")?.[1]
      assert.strictEqual((yield* json(anna, `/api/v1_alpha/async_refreshes/${refresh}`)).async_refresh.id, refresh)
      const { ancestors, descendants } = yield* whole(anna, id)
      assert.deepStrictEqual<unknown>(ancestors, [top["id"], middle["id"]])
      assert.deepStrictEqual<unknown>(descendants, [child["id"], grandchild["id"]])
      assert.deepStrictEqual((yield* json(anna, `/api/v1_alpha/async_refreshes/${refresh}`)).async_refresh, {
        id: refresh,
        status: "finished",
        result_count: 4
      })
      assert.strictEqual((yield* json(anna, `/api/v1_alpha/async_refreshes/x`)).error, "Not Found")
      // Fetched replies are counted; the thread is not fetched again soon, nor for visitors.
      assert.strictEqual((yield* json(anna, `/api/v1/statuses/${id}`)).replies_count, 1)
      const before = yield* timesAsked(collection)
      assert.isNull((yield* conversation(anna, id)).refresh)
      assert.strictEqual(yield* timesAsked(collection), before)
    }))

  it.effect("concurrent readers share one look-up", () =>
    Effect.gen(function*() {
      const [ben, xena] = [yield* newPerson("ben"), yield* there("xena")]
      const collection = `${xena.id}/slow`
      const asked = yield* Deferred.make<Effect.Effect<void>>()
      yield* respond(new URL(collection).pathname, (_, response) => {
        Effect.runSync(Deferred.succeed(
          asked,
          Effect.sync(() => {
            response.writeHead(200, { "content-type": "application/activity+json" })
              .end(JSON.stringify({ ...context, id: collection, type: "Collection", items: [] }))
          })
        ))
      })
      const post = note(xena, "slow", { published, replies: collection })
      const fresh = note(xena, "fresh", { published: new Date().toISOString() })
      yield* serve(post, fresh)
      const id = yield* idOf(ben, post["id"])
      yield* conversation(ben, id)
      const go = yield* Deferred.await(asked)
      const many = yield* Effect.all(Array.from({ length: 10 }, () => conversation(ben, id)), {
        concurrency: "unbounded"
      })
      assert.isTrue(many.every(({ refresh }) => refresh !== null))
      // A very recent post is not fetched again.
      assert.isNull((yield* conversation(ben, yield* idOf(ben, fresh["id"]))).refresh)
      yield* go
      yield* whole(ben, id)
      assert.strictEqual(yield* timesAsked(collection), 1)
    }))

  it.effect("a reply brings its parent, in either order of arrival", () =>
    Effect.gen(function*() {
      const [cleo, wim, vera] = [yield* newPerson("cleo"), yield* there("wim"), yield* there("vera")]
      const me = yield* TestServer.use(({ baseUrl }) => Effect.succeed(`${baseUrl}/users/cleo`))
      const top = note(wim, "top", { published })
      const reply = note(vera, "reply", {
        inReplyTo: top["id"],
        cc: [me],
        tag: [{ type: "Mention", href: me }],
        replies: {
          type: "Collection",
          first: { type: "CollectionPage", items: [1, 2, 3].map((n) => `${vera.id}/notes/r${n}`) }
        }
      })
      yield* serve(top, ...[1, 2, 3].map((n) => note(vera, `r${n}`, { published, inReplyTo: reply["id"] })))
      assert.strictEqual(yield* deliverFrom(vera, { type: "Create", object: reply }), "done")
      const [{ status }] = yield* json(cleo, "/api/v1/notifications")
      const found = yield* eventually(Effect.map(
        conversation(cleo, status.id),
        ({ ancestors, descendants }) =>
          ancestors.length > 0 && descendants.length > 1 ? { ancestors, descendants } : undefined
      ))
      assert.deepStrictEqual<unknown>(found.ancestors, [top["id"]])
      assert.lengthOf(found.descendants, limits.repliesOfNew)
      const parent = yield* idOf(cleo, top["id"])
      assert.strictEqual((yield* json(cleo, `/api/v1/statuses/${parent}`)).replies_count, 1)
    }))

  it.effect("a recent post found by search brings its parent", () =>
    Effect.gen(function*() {
      const [fritz, tom] = [yield* newPerson("fritz"), yield* there("tom")]
      const top = note(tom, "top", { published })
      const reply = note(tom, "reply", { published: new Date().toISOString(), inReplyTo: top["id"] })
      yield* serve(top, reply)
      const id = yield* idOf(fritz, reply["id"])
      const ancestors = yield* eventually(Effect.map(
        conversation(fritz, id),
        (found) => found.ancestors.length > 0 ? found.ancestors : undefined
      ))
      assert.deepStrictEqual<unknown>(ancestors, [top["id"]])
    }))

  it.effect("row 34: invented chains, pages and accounts cost at most the budget", () =>
    Effect.gen(function*() {
      const [dora, evil] = [yield* newPerson("dora"), yield* there("evil")]
      const { documents, requests, url } = yield* OtherServer
      const sendDocument = (response: ServerResponse, value: Json) => sendJson(response, { ...context, ...value })
      const cost = Effect.fnUntraced(function*(name: string, more: Json) {
        const post = note(evil, name, { published, ...more })
        yield* serve(post)
        const id = yield* idOf(dora, post["id"])
        const before = requests.length
        yield* conversation(dora, id)
        const found = yield* whole(dora, id)
        return { ...found, asked: requests.length - before }
      })
      // An endless chain of parents, each created on request.
      for (let n = 0; n < 40; n++) {
        const at = `/chain/${n}`
        documents.set(
          at,
          (_, response) =>
            sendDocument(response, note(evil, "", { published, id: url + at, inReplyTo: `${url}/chain/${n + 1}` }))
        )
      }
      const up = yield* cost("chained", { inReplyTo: `${url}/chain/0` })
      assert.lengthOf(up.ancestors, limits.statuses)
      // Endless replies, page after page.
      for (let n = 0; n < 40; n++) {
        documents.set(`/pages/${n}`, (_, response) =>
          sendDocument(response, {
            id: `${url}/pages/${n}`,
            type: "CollectionPage",
            items: [`${url}/answers/${n}`],
            next: `${url}/pages/${n + 1}`
          }))
        documents.set(
          `/answers/${n}`,
          (_, response) =>
            sendDocument(
              response,
              note(evil, "", { published, id: `${url}/answers/${n}`, inReplyTo: `${evil.id}/notes/paged` })
            )
        )
      }
      const paged = yield* cost("paged", { replies: `${url}/pages/0` })
      assert.lengthOf(paged.descendants, limits.pagesPerCollection)
      // A page that is its own next page.
      documents.set(
        "/self",
        (_, response) =>
          sendDocument(response, { id: `${url}/self`, type: "CollectionPage", items: [], next: `${url}/self` })
      )
      assert.strictEqual((yield* cost("self", { replies: `${url}/self` })).asked, 2)
      // A different account for each reply.
      const crowd = Array.from({ length: 8 }, (_, n) => n)
      for (const n of crowd) {
        const { id } = yield* there(`crowd${n}`)
        documents.set(
          `/crowd/${n}`,
          (_, response) =>
            sendDocument(response, {
              ...note(evil, "", { published, inReplyTo: `${evil.id}/notes/crowded` }),
              id: `${url}/crowd/${n}`,
              attributedTo: id
            })
        )
      }
      const crowded = yield* cost("crowded", {
        replies: { type: "Collection", items: crowd.map((n) => `${url}/crowd/${n}`) }
      })
      assert.lengthOf(crowded.descendants, limits.accounts)
      // A collection on another server is not fetched.
      const before = yield* timesAsked(`${url}/self`)
      const elsewhere = `http://localhost:${new URL(url).port}/self`
      yield* cost("foreign", { replies: elsewhere })
      assert.strictEqual(yield* timesAsked(`${url}/self`), before)
      assert.isNotEmpty(yield* resolved(dora.token, `${evil.id}/notes/foreign`))
    }))
})
