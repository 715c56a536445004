import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fedifyPeer } from "../support/FedifyPeer.ts"
import { startInstance } from "../support/Fediverse.ts"

describe(
  "S-009: with a server built with Fedify, over plain http on loopback",
  () => {
    it.live("its account follows, likes, boosts, replies, undoes and deletes", () =>
      Effect.gen(function*() {
        const peer = yield* fedifyPeer
        const ada = yield* (yield* startInstance()).person("ada")

        const follow = yield* peer.follow(ada.uri)
        yield* peer.waitFor(({ actor, type }) => type === "Accept" && actor === ada.uri)
        assert.strictEqual((yield* ada.relationship(peer))?.followed_by, true)

        const status = yield* ada.post("hello from ours")
        yield* peer.waitFor(({ content, type }) => type === "Create" && content === "<p>hello from ours</p>")

        const like = yield* peer.like(status.uri, ada.uri)
        const boost = yield* peer.boost(status.uri, ada.uri)
        const reply = yield* peer.post(`<p>welcome</p>`, ada.uri, status.uri)
        const read = ada.ask("GET", `/api/v1/statuses/${status.id}`)
        yield* eventually(read, (now) => now.favourites_count === 1 && now.reblogs_count === 1)
        const thread = ada.ask("GET", `/api/v1/statuses/${status.id}/context`)
        const { descendants } = yield* eventually(thread, (now) => now.descendants.length === 1)
        assert.deepInclude(descendants[0], { uri: reply, content: "<p>welcome</p>" })
        const told = yield* eventually(ada.notifications, (all) => all.length === 3)
        assert.deepStrictEqual(told.map((one) => one.split(" ")[0]).toSorted(), ["favourite", "follow", "reblog"])

        yield* peer.undo(like, ada.uri)
        yield* peer.undo(boost, ada.uri)
        yield* peer.remove(reply, ada.uri)
        yield* eventually(read, (now) => now.favourites_count === 0 && now.reblogs_count === 0)
        yield* eventually(thread, (now) => now.descendants.length === 0)
        yield* peer.undo(follow, ada.uri)
        yield* eventually(ada.relationship(peer), (now) => now?.followed_by === false)
      }))

    it.live("row 21: its account asks to reply and to quote, and reads the consent that it gets", () =>
      Effect.gen(function*() {
        const peer = yield* fedifyPeer
        const here = yield* startInstance()
        const ada = yield* here.person("ada")
        yield* ada.find(peer)
        const isThere = (consent: string) =>
          Effect.map(
            here.fetch(new URL(consent).pathname, { headers: { accept: "application/activity+json" } }),
            ({ status }) => status === 200
          )
        const accepted = (times: number) =>
          peer.waitFor(({ actor, type }) => type === "Accept" && actor === ada.uri, times)
        const status = yield* ada.post("ask me", { interaction_policy: { can_reply: { manual_approval: ["public"] } } })
        const reply = yield* peer.request("reply", "<p>may I</p>", status.uri, ada.uri)
        const requests = ada.ask("GET", "/api/v1/interaction_requests")
        const [request] = yield* eventually(requests, (all) => all.length === 1)
        assert.deepInclude(request.reply, { uri: reply, content: "<p>may I</p>" })
        const thread = ada.ask("GET", `/api/v1/statuses/${status.id}/context`)
        yield* ada.ask("POST", `/api/v1/interaction_requests/${request.id}/authorize`)
        const { result = "" } = yield* accepted(1)
        assert.deepStrictEqual(yield* peer.consent(result), ["ReplyAuthorization", ada.uri, reply, status.uri])
        yield* eventually(thread, ({ descendants }) => descendants.length === 1)

        const quote = yield* peer.request("quote", "<p>look</p>", status.uri, ada.uri)
        const second = yield* accepted(2)
        assert.deepStrictEqual(yield* peer.consent(second.result ?? ""), [
          "QuoteAuthorization",
          ada.uri,
          quote,
          status.uri
        ])
        // Removing the reply revokes its approval: the consent no longer exists, and the peer is notified.
        yield* ada.ask("POST", `/api/v1/statuses/${status.id}/replies/${request.reply.id}/remove`)
        yield* peer.waitFor(({ object, type }) => type === "Reject" && object === reply)
        assert.isFalse(yield* isThere(result))
        const [quoting] = yield* ada.ask("GET", `/api/v1/statuses/${status.id}/quotes`)
        yield* ada.ask("POST", `/api/v1/statuses/${status.id}/quotes/${quoting.id}/revoke`)
        yield* peer.waitFor(({ object, type }) => type === "Delete" && object === second.result)
        assert.isFalse(yield* isThere(second.result ?? ""))

        const closed = yield* ada.post("no", {
          interaction_policy: { can_reply: { always: ["me"] } },
          quote_approval_policy: "nobody"
        })
        yield* peer.request("reply", "<p>may I</p>", closed.uri, ada.uri)
        yield* peer.request("quote", "<p>may I</p>", closed.uri, ada.uri)
        yield* peer.waitFor(({ actor, type }) => type === "Reject" && actor === ada.uri, 3)
      }))

    it.live("ours follow, read, like, boost, reply, edit, undo and delete there", () =>
      Effect.gen(function*() {
        const peer = yield* fedifyPeer
        const bob = yield* (yield* startInstance()).person("bob")
        const faye = yield* bob.find(peer)
        yield* bob.follow(peer)
        yield* peer.waitFor(({ object, type }) => type === "Follow" && object === peer.id())
        yield* eventually(bob.relationship(peer), (now) => now?.following === true && !now.requested)

        const uri = yield* peer.post("<p>written elsewhere</p>", bob.uri)
        const [seen] = yield* eventually(bob.home, (all) => all.length === 1)
        assert.deepInclude(seen, { uri, content: "<p>written elsewhere</p>" })
        const at = `/api/v1/statuses/${seen.id}`

        yield* bob.ask("POST", `${at}/favourite`)
        yield* peer.waitFor(({ object, type }) => type === "Like" && object === uri)
        yield* bob.ask("POST", `${at}/reblog`)
        yield* peer.waitFor(({ object, type }) => type === "Announce" && object === uri)
        const reply = yield* bob.post(`@${peer.handle} thanks`, { in_reply_to_id: seen.id })
        yield* peer.waitFor(({ object, type }) => type === "Create" && object === reply.uri)
        const edited = { status: `@${peer.handle} many thanks` }
        yield* bob.ask("PUT", `/api/v1/statuses/${reply.id}`, edited)
        yield* peer.waitFor(({ content, type }) => type === "Update" && (content ?? "").includes("many thanks"))

        yield* bob.ask("POST", `${at}/unfavourite`)
        yield* bob.ask("POST", `${at}/unreblog`)
        yield* bob.ask("DELETE", `/api/v1/statuses/${reply.id}`)
        yield* peer.waitFor(({ object, type }) => type === "Delete" && object === reply.uri)
        yield* peer.waitFor(({ type }) => type === "Undo", 2)
        yield* bob.ask("POST", `/api/v1/accounts/${faye.id}/unfollow`)
        yield* peer.waitFor(({ type }) => type === "Undo", 3)
      }))
  }
)
