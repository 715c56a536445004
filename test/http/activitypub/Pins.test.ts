import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { remotePinsMax } from "../../../src/actors/account/InboxCollections.ts"
import { ended, serve, timesAsked } from "./Exchange.ts"
import { done, note, OtherServer, send, servers } from "./Sending.ts"
import { actorOf, found, json, mentioning, person, post, there } from "./Talking.ts"

/** Somebody elsewhere with a collection of pinned posts. */
const pinning = Effect.fnUntraced(function*(name: string) {
  const featured = `${(yield* OtherServer).url}/users/${name}/featured`
  return { ...(yield* there(name, { featured })), featured }
})

layer(servers, { excludeTestServices: true, timeout: "2 minutes" })("pinned posts of other servers", (it) => {
  it.effect("S-010: a post is pinned and taken off, and shown on the profile", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* person("anna"), yield* pinning("zoe")]
      const me = yield* actorOf(anna)
      for (const name of ["one", "two"]) {
        yield* done(zoe, { type: "Create", object: note(zoe, name, mentioning(me)) })
      }
      const { id } = yield* found(anna, "zoe")
      const pinned = Effect.map(
        json(anna, `/api/v1/accounts/${id}/statuses?pinned=true`),
        (all: ReadonlyArray<{ content: string }>) => all.map(({ content }) => content)
      )
      const [one, two] = [`${zoe.id}/notes/one`, `${zoe.id}/notes/two`]
      for (const object of [one, { id: two, type: "Note" }, one]) {
        assert.strictEqual(yield* done(zoe, { type: "Add", object, target: zoe.featured }), "done")
      }
      assert.deepStrictEqual(yield* pinned, ["<p>two</p>", "<p>one</p>"])
      assert.strictEqual(yield* done(zoe, { type: "Remove", object: one, target: zoe.featured }), "done")
      assert.deepStrictEqual(yield* pinned, ["<p>two</p>"])
    }))

  it.effect("row 8: nobody pins what is another's, nor in another's collection", () =>
    Effect.gen(function*() {
      const [ben, yan, thief] = [yield* person("ben"), yield* pinning("yan"), yield* pinning("thief")]
      const me = yield* actorOf(ben)
      const mine = yield* post(ben, "mine")
      for (const by of [yan, thief]) {
        yield* done(by, { type: "Create", object: note(by, "own", mentioning(me)) })
      }
      const [his, own] = [`${yan.id}/notes/own`, `${thief.id}/notes/own`]
      yield* done(yan, { type: "Add", object: his, target: yan.featured })
      for (
        const activity of [
          { type: "Add", object: his, target: thief.featured },
          { type: "Add", object: mine.uri, target: thief.featured },
          { type: "Add", object: own, target: yan.featured },
          { type: "Add", object: own, target: `${me}/collections/featured` },
          { type: "Add", object: own },
          { type: "Add", object: `${thief.id}/notes/unknown`, target: thief.featured },
          { type: "Add", object: { type: "Hashtag", name: "#cats" }, target: yan.featured },
          { type: "Add", object: { type: "Hashtag", name: "no hashtag" }, target: thief.featured },
          { type: "Remove", object: his, target: thief.featured },
          { type: "Remove", object: his, target: yan.featured }
        ]
      ) {
        yield* send(thief, activity)
        assert.match(yield* ended, /^ignored/, JSON.stringify(activity))
      }
      const account = yield* found(ben, "yan")
      assert.strictEqual((yield* json(ben, `/api/v1/accounts/${account.id}/statuses?pinned=true`)).length, 1)
      const other = yield* found(ben, "thief")
      assert.isEmpty(yield* json(ben, `/api/v1/accounts/${other.id}/statuses?pinned=true`))
    }))

  it.effect("S-010: a post that nobody here has is fetched when it is pinned, and one that cannot be had is not", () =>
    Effect.gen(function*() {
      const [dora, wim] = [yield* person("dora"), yield* pinning("wim")]
      const { id } = yield* found(dora, "wim")
      const old = note(wim, "old")
      yield* serve(old)
      yield* send(wim, { type: "Add", object: old["id"], target: wim.featured })
      assert.strictEqual(yield* ended, "done")
      const [pinned] = yield* json(dora, `/api/v1/accounts/${id}/statuses?pinned=true`)
      assert.strictEqual(pinned.uri, old["id"])
      assert.strictEqual(yield* timesAsked(old["id"]), 1)
      yield* send(wim, { type: "Add", object: `${wim.id}/notes/none`, target: wim.featured })
      assert.match(yield* ended, /^ignored/)
      assert.isEmpty(yield* json(dora, "/api/v1/timelines/home"))
    }))

  it.effect("row 37: there are so many pinned posts, and none that is for a few", () =>
    Effect.gen(function*() {
      const [cleo, xeno] = [yield* person("cleo"), yield* pinning("xeno")]
      const me = yield* actorOf(cleo)
      const pins = Effect.fnUntraced(function*(name: string, more = {}) {
        yield* done(xeno, { type: "Create", object: note(xeno, name, { ...mentioning(me), ...more }) })
        return yield* done(xeno, { type: "Add", object: `${xeno.id}/notes/${name}`, target: xeno.featured })
      })
      assert.strictEqual(yield* pins("secret", { to: [me], cc: [] }), "ignored: a post that nobody pins")
      for (let n = 0; n < remotePinsMax; n++) assert.strictEqual(yield* pins(`p${n}`), "done")
      assert.strictEqual(yield* pins("more"), "ignored: too many pinned posts")
    }))
})
