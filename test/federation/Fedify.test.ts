import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fedifyPeer } from "../support/FedifyPeer.ts"
import { TestServer } from "../support/Server.ts"
import { eventually, someone } from "./Ours.ts"

const ours = TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8" })

layer(ours, { excludeTestServices: true })(
  "S-009: with a server built with Fedify, over plain http on loopback",
  (it) => {
    it.effect("its account follows, likes, boosts, replies, takes back and deletes", () =>
      Effect.gen(function*() {
        const peer = yield* fedifyPeer
        const ada = yield* someone("ada")

        const follow = yield* peer.follow(ada.id)
        yield* peer.hears(({ actor, type }) => type === "Accept" && actor === ada.id)
        const faye = yield* ada.find(peer.handle)
        assert.strictEqual((yield* ada.relationship(faye.id))?.followed_by, true)

        const status = yield* ada.post("/api/v1/statuses", { status: "hello from ours" })
        yield* peer.hears(({ content, type }) => type === "Create" && content === "<p>hello from ours</p>")

        const like = yield* peer.like(status.uri, ada.id)
        const boost = yield* peer.boost(status.uri, ada.id)
        const reply = yield* peer.post(`<p>welcome</p>`, ada.id, status.uri)
        const read = ada.get(`/api/v1/statuses/${status.id}`)
        yield* eventually(read, (now) => now.favourites_count === 1 && now.reblogs_count === 1)
        const thread = ada.get<{ descendants: ReadonlyArray<{ uri: string; content: string }> }>(
          `/api/v1/statuses/${status.id}/context`
        )
        const { descendants } = yield* eventually(thread, (now) => now.descendants.length === 1)
        assert.deepInclude(descendants[0], { uri: reply, content: "<p>welcome</p>" })
        const told = yield* eventually(ada.notifications, (all) => all.length === 3)
        assert.deepStrictEqual(told.map(({ type }) => type).toSorted(), ["favourite", "follow", "reblog"])

        yield* peer.undo(like, ada.id)
        yield* peer.undo(boost, ada.id)
        yield* peer.remove(reply, ada.id)
        yield* eventually(read, (now) => now.favourites_count === 0 && now.reblogs_count === 0)
        yield* eventually(thread, (now) => now.descendants.length === 0)
        yield* peer.undo(follow, ada.id)
        yield* eventually(ada.relationship(faye.id), (now) => now?.followed_by === false)
      }))

    it.effect("ours follow, read, like, boost, reply, edit, take back and delete there", () =>
      Effect.gen(function*() {
        const peer = yield* fedifyPeer
        const bob = yield* someone("bob")
        const faye = yield* bob.find(peer.handle)
        yield* bob.post(`/api/v1/accounts/${faye.id}/follow`)
        yield* peer.hears(({ object, type }) => type === "Follow" && object === peer.id())
        yield* eventually(bob.relationship(faye.id), (now) => now?.following === true && !now.requested)

        const uri = yield* peer.post("<p>written elsewhere</p>", bob.id)
        const [seen] = yield* eventually(bob.home, (all) => all.length === 1)
        assert.deepInclude(seen, { uri, content: "<p>written elsewhere</p>" })
        const at = `/api/v1/statuses/${seen?.id}`

        yield* bob.post(`${at}/favourite`)
        yield* peer.hears(({ object, type }) => type === "Like" && object === uri)
        yield* bob.post(`${at}/reblog`)
        yield* peer.hears(({ object, type }) => type === "Announce" && object === uri)
        const reply = yield* bob.post("/api/v1/statuses", {
          status: `@${peer.handle} thanks`,
          in_reply_to_id: seen?.id
        })
        yield* peer.hears(({ object, type }) => type === "Create" && object === reply.uri)
        const edited = { status: `@${peer.handle} many thanks` }
        yield* bob.put(`/api/v1/statuses/${reply.id}`, edited)
        yield* peer.hears(({ content, type }) => type === "Update" && (content ?? "").includes("many thanks"))

        yield* bob.post(`${at}/unfavourite`)
        yield* bob.post(`${at}/unreblog`)
        yield* bob.remove(`/api/v1/statuses/${reply.id}`)
        yield* peer.hears(({ object, type }) => type === "Delete" && object === reply.uri)
        yield* peer.hears(({ type }) => type === "Undo", 2)
        yield* bob.post(`/api/v1/accounts/${faye.id}/unfollow`)
        yield* peer.hears(({ type }) => type === "Undo", 3)
      }))
  }
)
