import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf, there } from "./InboxCalls.ts"
import * as Sending from "./Sending.ts"
import { OtherServer, type RemotePerson, servers } from "./Sending.ts"

const done = (by: RemotePerson, activity: Json) =>
  Effect.map(Sending.deliverFrom(by, activity), (outcome) => outcome ?? "nothing")

const emoji = (name: string, more: Json = {}): Json => ({
  type: "Emoji",
  name: `:${name}:`,
  icon: { type: "Image", mediaType: "image/png", url: `https://pictures.example/${name}.png` },
  ...more
})
interface Shown {
  readonly emoji_reactions?: ReadonlyArray<{ readonly name: string; readonly count: number }>
  readonly favourites_count: number
}
const short = ({ emoji_reactions: reactions = [], favourites_count: favourites }: Shown) =>
  [...reactions.map(({ count, name }) => `${name} ${count}`), favourites].join(", ")

layer(servers, { excludeTestServices: true })("reactions from other servers", (it) => {
  it.effect("as Pleroma, Akkoma and Misskey send and undo them", () =>
    Effect.gen(function*() {
      const { domain, url } = yield* OtherServer
      const [anna, zoe, yan] = [yield* newPerson("anna"), yield* there("zoe"), yield* there("yan")]
      const { id, uri } = yield* publish(anna, "hello")
      const shown = Effect.map(json(anna, `/api/v1/statuses/${id}`), short)
      const context = [
        "https://www.w3.org/ns/activitystreams",
        `${url}/schemas/litepub-0.1.jsonld`,
        { "@language": "und" }
      ]
      // Pleroma and Akkoma, with a Unicode emoji, also addressed to the followers.
      const unicode = {
        "@context": context,
        id: `${url}/activities/1`,
        type: "EmojiReact",
        to: [`${zoe.id}/followers`, yield* actorOf(anna)],
        cc: ["https://www.w3.org/ns/activitystreams#Public"],
        nickname: "zoe",
        content: "🧡",
        object: uri
      }
      assert.strictEqual(yield* done(zoe, unicode), "done")
      // With a custom emoji of the sender's server.
      const custom = {
        ...unicode,
        id: `${url}/activities/2`,
        content: ":mouse:",
        tag: [emoji("mouse", { id: `${url}/emoji/mouse.png`, updated: "1970-01-01T00:00:00Z" })]
      }
      assert.strictEqual(yield* done(zoe, custom), "done")
      assert.strictEqual(yield* shown, `🧡 1, mouse@${domain} 1, 0`)
      const [told] = yield* json(anna, "/api/v1/notifications?types[]=pleroma:emoji_reaction")
      assert.strictEqual(told.emoji, `mouse@${domain}`)
      assert.match(told.emoji_url, /media_proxy|pictures/)

      // Misskey: a Like, which is a favourite for servers without reactions.
      const like = {
        id: `${url}/likes/1`,
        type: "Like",
        object: uri,
        content: ":blobcat:",
        "_misskey_reaction": ":blobcat:",
        tag: [emoji("blobcat", { id: `${url}/emojis/blobcat` })]
      }
      assert.strictEqual(yield* done(yan, like), "done")
      assert.strictEqual(yield* shown, `🧡 1, mouse@${domain} 1, blobcat@${domain} 1, 1`)
      // A remote emoji is named with its server; it is known already.
      const other = { id: `${url}/likes/2`, type: "Like", object: uri, "_misskey_reaction": `:mouse@${domain}:` }
      assert.strictEqual(yield* done(yan, { type: "Undo", object: { ...like, actor: yan.id } }), "done")
      assert.strictEqual(yield* done(yan, other), "done")
      assert.strictEqual(yield* shown, `🧡 1, mouse@${domain} 2, 1`)
      // Changed after a lost Undo: Misskey has only one reaction per account.
      const changed = { ...other, id: `${url}/likes/3`, "_misskey_reaction": "👍", content: "👍" }
      assert.strictEqual(yield* done(yan, changed), "done")
      assert.strictEqual(yield* shown, `🧡 1, mouse@${domain} 1, 👍 1, 1`)
      assert.strictEqual(yield* done(yan, { type: "Undo", object: `${url}/likes/3` }), "done")
      assert.strictEqual(yield* shown, `🧡 1, mouse@${domain} 1, 0`)

      // With the whole activity, and by its id; a repetition has no effect.
      assert.strictEqual(yield* done(zoe, { type: "Undo", object: { ...custom, actor: zoe.id } }), "done")
      assert.strictEqual(yield* shown, "🧡 1, 0")
      assert.strictEqual(yield* done(zoe, { type: "Undo", object: unicode.id }), "done")
      assert.strictEqual(yield* shown, "0")
      assert.match(yield* done(zoe, { type: "Undo", object: unicode.id }), /ignored/)
      assert.deepStrictEqual(yield* json(anna, "/api/v1/notifications?types[]=pleroma:emoji_reaction"), [])

      // Undone before it arrived.
      const late = { ...unicode, id: `${url}/activities/3` }
      assert.match(yield* done(zoe, { type: "Undo", object: { ...late, actor: zoe.id } }), /ignored/)
      assert.strictEqual(yield* done(zoe, late), "ignored: already undone")
      assert.strictEqual(yield* shown, "0")
    }))

  it.effect("local emoji sent back by other servers stay local, and no server can replace another's", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* OtherServer
      const { baseUrl } = yield* TestServer
      const [ben, xena] = [yield* newPerson("ben"), yield* there("xena")]
      const { id, uri } = yield* publish(ben, "hello")
      const shown = Effect.map(json(ben, `/api/v1/statuses/${id}`), short)
      const react = (content: string, tag: ReadonlyArray<Json> = []) =>
        done(xena, { type: "EmojiReact", object: uri, content, tag })
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at) VALUES
        (71, 'bird', NULL, 'https://local.example/bird.png', 'https://local.example/bird.png', now()),
        (72, 'wolf', 'third.example', 'https://third.example/wolf.png', 'https://third.example/wolf.png', now()),
        (73, 'bird', 'third.example', 'https://third.example/bird.png', 'https://third.example/bird.png', now())`
      // The server learns that the emoji is enabled.
      yield* cli(["emoji", "enable", "bird"], (yield* TestServer).variables)
      assert.strictEqual(yield* react(":bird:", [emoji("bird", { id: `${baseUrl}/emojis/71` })]), "done")
      assert.strictEqual(yield* shown, "bird 1, 0")
      // An emoji of a third server that is known here keeps its picture here.
      assert.strictEqual(yield* react(":wolf:", [emoji("wolf", { id: "https://third.example/emojis/1" })]), "done")
      assert.strictEqual(yield* shown, "bird 1, wolf@third.example 1, 0")
      const [wolf] = yield* sql`SELECT url FROM custom_emojis WHERE id = 72`
      assert.deepStrictEqual(wolf, { url: "https://third.example/wolf.png" })
      // An unknown emoji counts as the sender's.
      assert.strictEqual(yield* react(":lynx:", [emoji("lynx", { id: "https://fourth.example/emojis/1" })]), "done")
      assert.strictEqual(yield* shown, `bird 1, wolf@third.example 1, lynx@${domain} 1, 0`)
      // A name alone does not match emoji that are not on the post.
      assert.match(yield* react(":bird@third.example:"), /unknown emoji/)
      assert.match(yield* react(":bird:"), /unknown emoji/)
    }))

  it.effect("hostile reactions change nothing: too long, on hidden posts, by others, of any type", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [cleo, walt, vera] = [yield* newPerson("cleo"), yield* there("walt"), yield* there("vera")]
      const { id, uri } = yield* publish(cleo, "hello")
      const { uri: secret } = yield* publish(cleo, "secret", { visibility: "private" })
      const count = Effect.map(sql`SELECT FROM emoji_reactions WHERE account_id <> 0`, ({ length }) => length)
      const before = yield* count
      const contents = [
        "",
        " ",
        "x".repeat(100_000),
        "🔥".repeat(200),
        ":" + "a".repeat(300) + ":",
        "::",
        ":a b:",
        "<b>🔥</b>",
        "🔥\u0000🔥",
        "\uD83D",
        7,
        null,
        {},
        ["🔥", "🦆"],
        { content: "🔥" }
      ]
      for (const content of contents) {
        assert.match(
          yield* done(walt, { type: "EmojiReact", object: uri, content }),
          /ignored/,
          JSON.stringify(content)?.slice(0, 40)
        )
      }
      const wrong: ReadonlyArray<Json> = [
        { type: "EmojiReact", content: "🔥" },
        { type: "EmojiReact", content: "🔥", object: secret },
        { type: "EmojiReact", content: "🔥", object: "https://nowhere.example/1" },
        { type: "EmojiReact", content: "🔥", object: [uri, uri] },
        { type: "EmojiReact", content: ":evil:", object: uri, tag: [emoji("evil", { icon: "javascript:alert(1)" })] },
        { type: "EmojiReact", content: ":evil:", object: uri, tag: [emoji("evil", { type: "Hashtag" })] },
        { type: "EmojiReact", content: ":evil:", object: uri, tag: "evil" }
      ]
      for (const activity of wrong) {
        assert.notStrictEqual(yield* done(walt, activity), "done", JSON.stringify(activity))
      }
      assert.strictEqual(yield* count, before)
      // A Like with an invalid reaction is only a favourite.
      assert.strictEqual(yield* done(walt, { type: "Like", object: uri, content: "well done" }), "done")
      assert.strictEqual(short(yield* json(cleo, `/api/v1/statuses/${id}`)), "1")
      // Only its sender can undo a reaction.
      const reaction = { id: `${vera.id}#r1`, type: "EmojiReact", object: uri, content: "🔥" }
      assert.strictEqual(yield* done(vera, reaction), "done")
      assert.match(yield* done(walt, { type: "Undo", object: reaction.id }), /ignored/)
      assert.match(yield* done(walt, { type: "Undo", object: { ...reaction, actor: vera.id } }), /ignored/)
      assert.match(yield* done(walt, { type: "Undo", object: { ...reaction, actor: walt.id } }), /ignored/)
      assert.strictEqual(short(yield* json(cleo, `/api/v1/statuses/${id}`)), "🔥 1, 1")
      // Reactions of blocked accounts are dropped.
      const { accounts: [account] } = yield* json(
        cleo,
        `/api/v2/search?type=accounts&resolve=true&q=${encodeURIComponent(vera.id)}`
      )
      yield* json(cleo, `/api/v1/accounts/${account.id}/block`, {})
      yield* done(vera, { type: "EmojiReact", object: uri, content: "🦆" })
      assert.strictEqual(short(yield* json(cleo, `/api/v1/statuses/${id}`)), "🔥 1, 1")
    }))

  it.effect("reactions beyond an account's maximum are dropped, the first ones remain", () =>
    Effect.gen(function*() {
      const [dora, uwe] = [yield* newPerson("dora"), yield* there("uwe")]
      const { id, uri } = yield* publish(dora, "hello")
      const outcomes = []
      for (const at of Array.from({ length: 12 }, (_, index) => index)) {
        outcomes.push(
          yield* done(uwe, { type: "EmojiReact", object: uri, content: String.fromCodePoint(0x1f400 + at) })
        )
      }
      assert.deepStrictEqual(outcomes.map((outcome) => outcome === "done"), outcomes.map((_, at) => at < 10))
      assert.lengthOf((yield* json(dora, `/api/v1/statuses/${id}`)).emoji_reactions, 10)
    }))
})
