import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { startInstance } from "../support/Fediverse.ts"
import * as Programs from "../support/programs/Programs.ts"
import { snacPeer } from "../support/SnacPeer.ts"

const program = Programs.find("snac")

/** Skips the test without snac; docs/testing.md says how to install it. */
const withPeer = <E, R>(test: (peer: PeerOf) => Effect.Effect<void, E, R>) =>
  program === undefined
    ? Effect.sync(() => console.log("not run: snac2 is missing"))
    : Effect.flatMap(snacPeer(program), test)
type PeerOf = Effect.Success<ReturnType<typeof snacPeer>>

// snac polls its queues every few seconds, so the tests wait for them concurrently.
describe(
  "S-009: with snac, over plain http on loopback",
  { concurrent: true },
  () => {
    it.live(
      "its account follows, reads, likes, boosts, replies and undoes",
      () =>
        withPeer((peer) =>
          Effect.gen(function*() {
            const ada = yield* (yield* startInstance()).person("ada")
            yield* peer.follow(ada.uri)
            yield* eventually(ada.notifications, ([first]) => first?.startsWith("follow ") === true)
            assert.strictEqual((yield* ada.relationship(peer))?.followed_by, true)

            const status = yield* ada.post("hello from ours")
            yield* peer.shows((page) => page.includes("hello from ours"))

            yield* peer.press("Like", status.uri, ada.uri)
            yield* peer.boost(status.uri)
            yield* peer.reply("welcome from snac", status.uri)
            const read = ada.ask("GET", `/api/v1/statuses/${status.id}`)
            yield* eventually(read, (now) => now.favourites_count === 1 && now.reblogs_count === 1)
            const thread = ada.ask("GET", `/api/v1/statuses/${status.id}/context`)
            const { descendants: [reply] } = yield* eventually(thread, (now) => now.descendants.length === 1)
            assert.include(reply?.content, "welcome from snac")

            yield* peer.unboost(status.uri)
            yield* peer.press("Unlike", status.uri, ada.uri)
            yield* eventually(read, (now) => now.favourites_count === 0 && now.reblogs_count === 0)
            yield* peer.unfollow(ada.uri)
            yield* eventually(ada.relationship(peer), (now) => now?.followed_by === false)
          })
        )
    )

    it.live(
      "ours follow, read, like, boost, reply, edit, undo and delete there, and see deletions there",
      () =>
        withPeer((peer) =>
          Effect.gen(function*() {
            const bob = yield* (yield* startInstance()).person("bob")
            const sam = yield* bob.find(peer)
            yield* bob.follow(peer)
            yield* peer.hasFollowers(1)
            yield* eventually(bob.relationship(peer), (now) => now?.following === true && !now.requested)

            const uri = yield* peer.post("written by snac")
            const [seen] = yield* eventually(bob.home, (all) => all.length === 1)
            assert.strictEqual(seen.uri, uri)
            assert.include(seen.content, "written by snac")
            const at = `/api/v1/statuses/${seen.id}`

            yield* bob.ask("POST", `${at}/favourite`)
            yield* peer.waitFor("Like")
            yield* bob.ask("POST", `${at}/reblog`)
            yield* peer.waitFor("Announce")
            const reply = yield* bob.post(`@${peer.handle} thanks`, { in_reply_to_id: seen.id })
            yield* peer.shows((page) => page.includes(reply.uri))
            yield* bob.ask("PUT", `/api/v1/statuses/${reply.id}`, { status: `@${peer.handle} many thanks` })
            yield* peer.shows((page) => page.includes("many thanks"))

            yield* bob.ask("POST", `${at}/unfavourite`)
            yield* bob.ask("POST", `${at}/unreblog`)
            yield* bob.ask("DELETE", `/api/v1/statuses/${reply.id}`)
            yield* peer.shows((page) => !page.includes("many thanks"))
            // snac sends a deletion only to accounts that it knows to read the post.
            yield* peer.press("Delete", uri, peer.id)
            yield* eventually(bob.home, (all) => all.length === 0)
            yield* bob.ask("POST", `/api/v1/accounts/${sam.id}/unfollow`)
            yield* peer.hasFollowers(0)
          })
        )
    )
  }
)
