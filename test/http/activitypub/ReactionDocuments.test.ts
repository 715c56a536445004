import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf, mentioning, received, there } from "./InboxCalls.ts"
import * as Sending from "./Sending.ts"
import { note, OtherServer, type RemotePerson, servers } from "./Sending.ts"

const done = (by: RemotePerson, activity: Json) =>
  Effect.map(Sending.deliverFrom(by, activity), (outcome) => outcome ?? "nothing")

const emoji = (name: string, more: Json = {}): Json => ({
  type: "Emoji",
  name: `:${name}:`,
  icon: { type: "Image", mediaType: "image/png", url: `https://pictures.example/${name}.png` },
  ...more
})
layer(servers, { excludeTestServices: true })("reactions as documents", (it) => {
  it.effect("FEP-c0e0: a post has a collection of them, readable only to readers of the post", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const { url } = yield* OtherServer
      const [ella, tina] = [yield* newPerson("ella"), yield* there("tina")]
      const { id, uri } = yield* publish(ella, "hello")
      const document = (of: string) =>
        Effect.flatMap(
          fetch(new URL(of).pathname, { headers: { accept: "application/activity+json" } }),
          (response) =>
            Effect.map(Effect.promise(() => response.text()), (text) => [response.status, JSON.parse(text)] as const)
        )
      assert.notProperty((yield* document(uri))[1], "emojiReactions")
      const reaction = { id: `${tina.id}#r`, type: "EmojiReact", object: uri, content: ":sun:" }
      yield* done(tina, { ...reaction, tag: [emoji("sun")] })
      yield* json(ella, `/api/v1/pleroma/statuses/${id}/reactions/${encodeURIComponent("🔥")}`, {}, "PUT")
      const [, whole] = yield* document(uri)
      assert.strictEqual(whole.emojiReactions, `${uri}/emoji_reactions`)
      const [, collection] = yield* document(whole.emojiReactions)
      assert.deepInclude(collection, { id: whole.emojiReactions, type: "Collection", totalItems: 2 })
      assert.deepInclude(collection.items[0], { ...reaction, actor: tina.id })
      assert.deepInclude(collection.items[0].tag[0], {
        type: "Emoji",
        name: ":sun:",
        icon: { type: "Image", mediaType: "image/png", url: "https://pictures.example/sun.png" }
      })
      assert.deepInclude(collection.items[1], { type: "EmojiReact", actor: yield* actorOf(ella), content: "🔥" })
      const { uri: secret } = yield* publish(ella, "secret", { visibility: "private" })
      const [status, text] = yield* document(`${secret}/emoji_reactions`)
      assert.deepStrictEqual([status, text], yield* document(`${uri.replace(id, "4711")}/emoji_reactions`))
      assert.isString(url)
    }))

  it.effect("local reactions are sent to the remote author, and so is their end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [fritz, sara] = [yield* newPerson("fritz"), yield* there("sara")]
      const me = yield* actorOf(fritz)
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at)
        VALUES (91, 'leaf', NULL, 'https://local.example/leaf.png', 'https://local.example/leaf.png', now())`
      assert.strictEqual(yield* done(sara, { type: "Create", object: note(sara, "one", mentioning(me)) }), "done")
      const { id, uri } = yield* received(fritz)
      // The author of the next reactions already has a custom reaction.
      yield* done(sara, { type: "EmojiReact", object: uri, content: ":moon:", tag: [emoji("moon")] })
      const { domain } = yield* OtherServer
      const path = (name: string) => `/api/v1/pleroma/statuses/${id}/reactions/${encodeURIComponent(name)}`
      for (const name of ["🔥", `moon@${domain}`]) yield* json(fritz, path(name), {}, "PUT")
      yield* json(fritz, path("🔥"), {}, "DELETE")
      const sent = yield* sql<{ document: string }>`SELECT document FROM outgoing_activities
        WHERE sender_id = ${fritz.accountId} ORDER BY id`
      const [fire, moon, undo] = sent.map(({ document }) =>
        typeof document === "string" ? JSON.parse(document) : document
      )
      assert.deepInclude(fire, { type: "EmojiReact", actor: me, object: uri, content: "🔥", to: [sara.id] })
      assert.deepInclude(moon, { type: "EmojiReact", content: ":moon:" })
      assert.deepInclude(moon.tag[0], { type: "Emoji", name: ":moon:" })
      assert.strictEqual(moon.tag[0].icon.url, "https://pictures.example/moon.png")
      assert.deepInclude(undo, { type: "Undo", actor: me, to: [sara.id] })
      assert.deepInclude(undo.object, { type: "EmojiReact", id: fire.id, content: "🔥" })
      // Deleted with the post.
      yield* done(sara, { type: "Delete", object: uri })
      assert.match((yield* json(fritz, path("🦆"), {}, "PUT")).error, /not found/)
    }))
})
