import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { peer } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { ended, eventually, follows, home, hurry, outcome, outcomeOf, respond, serve, timesAsked } from "./Exchange.ts"
import { actorOf } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, type RemotePerson, send, servers, settled } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))
const everybody = { to: ["https://www.w3.org/ns/activitystreams#Public"] }
const boost = (object: unknown) => ({ type: "Announce", object, ...everybody })

/** Creates a local follower of a remote account that has posted. */
const pair = Effect.fnUntraced(function*(here: string, away: string) {
  const [me, them] = [yield* newPerson(here), yield* there(away)]
  yield* deliverFrom(them, { type: "Like", object: "https://nowhere.test/1" })
  yield* follows(me.accountId, them.id)
  return [me, them] as const
})

/** Makes a host that does not respond until it is released; returns what completes when it is asked. */
const rendezvous = Effect.fnUntraced(function*(path: string, document: unknown) {
  const asked = yield* Deferred.make<Effect.Effect<void>>()
  yield* respond(path, (_, response) => {
    Effect.runSync(Deferred.succeed(
      asked,
      Effect.sync(() => {
        response.writeHead(200, { "content-type": "application/activity+json" }).end(JSON.stringify(document))
      })
    ))
  })
  return Deferred.await(asked)
})

const context = { "@context": "https://www.w3.org/ns/activitystreams" }
const path = (id: unknown) => new URL(String(id)).pathname
const notDone = (by: RemotePerson, activity: Record<string, unknown>) =>
  Effect.map(Effect.andThen(send(by, activity), ended), (text) => assert.match(text, /^ignored/))

layer(servers, { excludeTestServices: true })("activities about unknown objects", (it) => {
  it.effect("S-009: a boosted post is fetched first if the booster has local followers", () =>
    Effect.gen(function*() {
      const [anna, zoe] = yield* pair("anna", "zoe")
      const [author, stranger] = [yield* there("author"), yield* there("stranger")]
      const post = note(author, "boosted")
      yield* serve(post)
      yield* notDone(stranger, boost(post["id"]))
      assert.strictEqual(yield* timesAsked(post["id"]), 0)
      yield* send(zoe, boost(post["id"]))
      assert.strictEqual(yield* ended, "done")
      yield* settled
      assert.deepStrictEqual<unknown>(yield* home(anna.token), [post["id"]])
      assert.strictEqual(yield* timesAsked(post["id"]), 1)
    }))

  it.effect("S-009: a boost that overtakes its post counts when its author delivers the post, even if the origin does not serve it", () =>
    Effect.gen(function*() {
      const [olga, zack] = yield* pair("olga", "zack")
      const author = yield* there("olgas-author")
      const post = note(author, "overtaken", {
        cc: [yield* actorOf(olga)],
        tag: [{ type: "Mention", href: yield* actorOf(olga) }]
      })
      const arrives = yield* rendezvous(path(post["id"]), { ...context, ...post })
      const id = `${zack.id}/boosts/1`
      yield* send(zack, { id, ...boost(post["id"]) })
      const responses = yield* arrives
      assert.strictEqual(yield* deliverFrom(author, { type: "Create", object: post }), "done")
      assert.strictEqual(yield* eventually(outcomeOf(id)), "done")
      yield* settled
      assert.deepStrictEqual<unknown>(yield* home(olga.token), [post["id"]])
      yield* responses
    }))

  it.effect("row 9: an object embedded in a boost is trusted only if it is the booster's own; others are fetched from their origin", () =>
    Effect.gen(function*() {
      const [ben, yan] = yield* pair("ben", "yan")
      const honest = yield* peer
      const victim = yield* honest.actor("victim")
      const served = (name: string) => {
        const post = note(victim, name)
        honest.documents.set(path(post["id"]), { ...context, ...post })
        return post
      }
      const real = served("real")
      yield* send(yan, boost({ ...real, content: "<p>forged</p>" }))
      assert.strictEqual(yield* ended, "done")
      const [top] = yield* json(ben, "/api/v1/timelines/home")
      assert.strictEqual(top.reblog.content, "<p>real</p>")
      // Missing or refused at its origin: not stored.
      yield* notDone(yan, boost({ ...note(victim, "made-up") }))
      honest.documents.set(path(note(victim, "down")["id"]), (_, response) => response.writeHead(503).end())
      yield* send(yan, boost(note(victim, "down")))
      yield* settled
      // By itself, under another server's id.
      yield* notDone(yan, boost({ ...note(yan, "foreign"), id: `${victim.id}/notes/foreign` }))
      // The sender's own non-public post, which only this boost mentions.
      const own = note(yan, "own")
      yield* send(yan, boost(own))
      assert.strictEqual(yield* ended, "done")
      yield* settled
      assert.deepStrictEqual<unknown>(
        (yield* home(ben.token)).toSorted(),
        [own["id"], real["id"]].map(String).toSorted()
      )
    }))

  it.effect("a slow origin does not delay the sender's other activities, and undone ones stay undone", () =>
    Effect.gen(function*() {
      const [cleo, xena] = yield* pair("cleo", "xena")
      const author = yield* there("slow")
      const [late, undone] = [note(author, "late"), note(author, "undone")]
      const waitLate = yield* rendezvous(path(late["id"]), { ...context, ...late })
      const waitUndone = yield* rendezvous(path(undone["id"]), { ...context, ...undone })
      yield* send(xena, boost(late["id"]))
      yield* send(xena, { id: `${xena.id}/boosts/1`, ...boost(undone["id"]) })
      const [respondLate, respondUndone] = [yield* waitLate, yield* waitUndone]
      const quick = note(xena, "quick")
      assert.strictEqual(yield* deliverFrom(xena, { type: "Create", object: quick }), "done")
      yield* deliverFrom(xena, {
        type: "Undo",
        object: { type: "Announce", id: `${xena.id}/boosts/1`, object: undone["id"] }
      })
      assert.deepStrictEqual<unknown>(yield* home(cleo.token), [quick["id"]])
      yield* respondUndone
      yield* respondLate
      const seen = yield* eventually(Effect.map(home(cleo.token), (ids) => ids.length > 1 ? ids : undefined))
      assert.sameMembers<unknown>([...seen], [late["id"], quick["id"]])
      assert.strictEqual(yield* timesAsked(undone["id"]), 1)
    }))

  it.effect("an origin that is down is retried, up to the maximum of attempts", () =>
    Effect.gen(function*() {
      const [dora, wim] = yield* pair("dora", "wim")
      const author = yield* there("away")
      const [back, never] = [note(author, "back"), note(author, "never")]
      const down = (id: unknown) => respond(path(id), (_, response) => response.writeHead(503).end())
      for (const { id } of [back, never]) {
        yield* down(id)
        yield* send(wim, boost(id))
        yield* eventually(Effect.map(timesAsked(id), (times) => times > 0 ? times : undefined))
      }
      assert.isUndefined(yield* outcome)
      yield* serve(back)
      yield* hurry
      yield* eventually(Effect.map(home(dora.token), (ids) => ids.length > 0 ? ids : undefined))
      const given = yield* eventually(Effect.andThen(hurry, outcome))
      assert.strictEqual(given, "ignored: its object cannot be fetched")
      assert.deepStrictEqual<unknown>(yield* home(dora.token), [back["id"]])
      assert.isAtMost(yield* timesAsked(never["id"]), 8)
    }))

  it.effect("row 7: a post named by its address is its origin's version, and its author's", () =>
    Effect.gen(function*() {
      const [emil, vera] = yield* pair("emil", "vera")
      const other = yield* there("other")
      const [mine, theirs, turning] = [note(vera, "mine"), note(other, "theirs"), note(vera, "turning")]
      yield* serve(mine, theirs)
      yield* send(vera, { type: "Create", object: mine["id"] })
      assert.match(yield* ended, /^done/)
      // Another account's post, claimed by the sender, whose author has no local followers.
      yield* notDone(vera, { type: "Create", object: theirs["id"] })
      // An activity at the address of a post, and a post the next time.
      let times = 0
      yield* respond(path(turning["id"]), (_, response) => {
        const shown = times++ === 0
          ? { ...turning, type: "Create", actor: vera.id, object: theirs["id"] }
          : { ...turning, attributedTo: other.id }
        response.writeHead(200, { "content-type": "application/activity+json" }).end(
          JSON.stringify({ ...context, ...shown })
        )
      })
      yield* notDone(vera, { type: "Create", object: turning["id"] })
      yield* notDone(vera, { type: "Create", object: "https://elsewhere.test/1" })
      yield* settled
      assert.deepStrictEqual<unknown>(yield* home(emil.token), [mine["id"]])
    }))
})
