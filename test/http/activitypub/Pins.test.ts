import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { foreignPinsMax } from "../../../src/services/instance/ForeignLimits.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { ended, eventually, follows, outcomeOf, respond, serve, timesAsked } from "./Exchange.ts"
import { actorOf, found, mentioning, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, send, servers, settled } from "./Sending.ts"

/** Creates a remote account with a collection of pinned posts. */
const pinning = Effect.fnUntraced(function*(name: string) {
  const featured = `${(yield* OtherServer).url}/users/${name}/featured`
  return { ...(yield* there(name, { featured })), featured }
})

layer(servers, { excludeTestServices: true })("pinned posts of other servers", (it) => {
  it.effect("S-010: a post is pinned and unpinned, and shown on the profile", () =>
    Effect.gen(function*() {
      const [anna, zoe] = [yield* newPerson("anna"), yield* pinning("zoe")]
      const me = yield* actorOf(anna)
      for (const name of ["one", "two"]) {
        yield* deliverFrom(zoe, { type: "Create", object: note(zoe, name, mentioning(me)) })
      }
      const { id } = yield* found(anna, "zoe")
      const pinned = Effect.map(
        json(anna, `/api/v1/accounts/${id}/statuses?pinned=true`),
        (all: ReadonlyArray<{ content: string }>) => all.map(({ content }) => content)
      )
      const [one, two] = [`${zoe.id}/notes/one`, `${zoe.id}/notes/two`]
      for (const object of [one, { id: two, type: "Note" }, one]) {
        assert.strictEqual(yield* deliverFrom(zoe, { type: "Add", object, target: zoe.featured }), "done")
      }
      assert.deepStrictEqual(yield* pinned, ["<p>two</p>", "<p>one</p>"])
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Remove", object: one, target: zoe.featured }), "done")
      assert.deepStrictEqual(yield* pinned, ["<p>two</p>"])
    }))

  it.effect("row 8: an account cannot pin another's posts, nor pin to another's collection", () =>
    Effect.gen(function*() {
      const [ben, yan, thief] = [yield* newPerson("ben"), yield* pinning("yan"), yield* pinning("thief")]
      const me = yield* actorOf(ben)
      const mine = yield* publish(ben, "mine")
      for (const by of [yan, thief]) {
        yield* deliverFrom(by, { type: "Create", object: note(by, "own", mentioning(me)) })
      }
      const [his, own] = [`${yan.id}/notes/own`, `${thief.id}/notes/own`]
      yield* deliverFrom(yan, { type: "Add", object: his, target: yan.featured })
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

  it.effect("S-010: an unknown post is fetched when it is pinned, and skipped if it cannot be fetched", () =>
    Effect.gen(function*() {
      const [dora, wim] = [yield* newPerson("dora"), yield* pinning("wim")]
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

  it.effect("S-010: a pin that arrives before its post takes effect with the post, in the order of the pins", () =>
    Effect.gen(function*() {
      const [eve, vic] = [yield* newPerson("eve"), yield* pinning("vic")]
      const me = yield* actorOf(eve)
      const { id } = yield* found(eve, "vic")
      const posts = ["first", "second", "third"].map((name) => note(vic, name, mentioning(me)))
      const [first, second, third] = posts.map((post) => String(post["id"]))
      // Fetching fails, so that only the post's arrival can be the reason.
      const waiting: Array<() => void> = []
      for (const uri of [first, third]) {
        yield* respond(new URL(uri!).pathname, (_, response) => {
          waiting.push(() => response.writeHead(404).end())
        })
      }
      const pins = (verb: string, object: string | undefined) => ({
        id: `${object}#${verb}`,
        type: verb,
        object,
        target: vic.featured
      })
      yield* send(vic, pins("Add", first))
      yield* settled
      yield* send(vic, pins("Add", third))
      yield* settled
      yield* deliverFrom(vic, { type: "Create", object: posts[1] })
      assert.strictEqual(yield* deliverFrom(vic, pins("Add", second)), "done")
      yield* deliverFrom(vic, pins("Remove", third))
      assert.strictEqual(yield* outcomeOf(`${third}#Add`), "ignored: removed again")
      yield* deliverFrom(vic, { type: "Create", object: posts[2] })
      yield* deliverFrom(vic, { type: "Create", object: posts[0] })
      assert.strictEqual(yield* eventually(outcomeOf(`${first}#Add`)), "done")
      const pinned: ReadonlyArray<{ uri: string }> = yield* json(eve, `/api/v1/accounts/${id}/statuses?pinned=true`)
      assert.deepStrictEqual(pinned.map(({ uri }) => uri), [second, first])
      for (const end of waiting) end()
    }))

  it.effect("S-010: a pin waits for a followers-only post, which its origin delivers but does not serve", () =>
    Effect.gen(function*() {
      const [flora, ulf] = [yield* newPerson("flora"), yield* pinning("ulf")]
      const { id } = yield* found(flora, "ulf")
      yield* follows(flora.accountId, ulf.id)
      const post = note(ulf, "private", { to: [`${ulf.id}/followers`], cc: [] })
      const activity = { id: `${ulf.id}/pins/1`, type: "Add", object: post["id"], target: ulf.featured }
      yield* send(ulf, activity)
      yield* eventually(Effect.map(timesAsked(post["id"]), (times) => times > 0 || undefined))
      yield* deliverFrom(ulf, { type: "Create", object: post })
      assert.strictEqual(yield* eventually(outcomeOf(activity.id)), "done")
      const [pinned] = yield* json(flora, `/api/v1/accounts/${id}/statuses?pinned=true`)
      assert.strictEqual(pinned.uri, post["id"])
    }))

  it.effect("row 37: the number of pinned posts is bounded, and restricted posts are not pinned", () =>
    Effect.gen(function*() {
      const [cleo, xeno] = [yield* newPerson("cleo"), yield* pinning("xeno")]
      const me = yield* actorOf(cleo)
      const pins = Effect.fnUntraced(function*(name: string, more = {}) {
        yield* deliverFrom(xeno, { type: "Create", object: note(xeno, name, { ...mentioning(me), ...more }) })
        return yield* deliverFrom(xeno, { type: "Add", object: `${xeno.id}/notes/${name}`, target: xeno.featured })
      })
      assert.strictEqual(yield* pins("secret", { to: [me], cc: [] }), "ignored: not a post that can be pinned")
      for (let n = 0; n < foreignPinsMax; n++) assert.strictEqual(yield* pins(`p${n}`), "done")
      assert.strictEqual(yield* pins("more"), "ignored: too many pinned posts")
    }))
})
