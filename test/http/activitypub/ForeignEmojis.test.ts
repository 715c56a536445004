import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../src/services/database/Transactions.ts"
import { foreignEmojis, shortcodeCharactersMax } from "../../../src/services/federation/documents/ForeignEmoji.ts"
import { urlReader } from "../../../src/services/federation/documents/ForeignValues.ts"
import { hostEmojisMax, RemoteEmojis } from "../../../src/services/federation/inbox/RemoteEmojis.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { bytesAt, picture } from "../../support/MediaFiles.ts"
import { actorOf, found, mentioning, received, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

const png = (colour: string) => Effect.promise(() => picture(20, 20, colour).png().toBuffer())

/** Serves a picture on the other server. */
const put = Effect.fnUntraced(function*(path: string, colour: string) {
  const { documents, url } = yield* OtherServer
  const bytes = yield* png(colour)
  documents.set(path, (_, response) => response.writeHead(200, { "content-type": "image/png" }).end(bytes))
  return url + path
})

const emoji = (name: string, url: string, more: Json = {}): Json => ({
  type: "Emoji",
  name: `:${name}:`,
  icon: { type: "Image", mediaType: "image/png", url },
  ...more
})
const names = ({ emojis }: { emojis: ReadonlyArray<{ shortcode: string }> }) => emojis.map(({ shortcode }) => shortcode)

layer(servers, { excludeTestServices: true })("emoji of other servers", (it) => {
  it.effect("S-009: texts, options and profiles include their custom emoji, served by this server", () =>
    Effect.gen(function*() {
      const cat = yield* put("/cat.png", "#111111")
      const tag = [emoji("cat", cat), emoji("fish", cat), emoji("hat", cat)]
      const [anna, zoe] = [
        yield* newPerson("anna"),
        yield* there("zoe", {
          name: "Zoe :cat:",
          summary: "<p>I like :fish:</p>",
          attachment: [{ type: "PropertyValue", name: "x", value: "<p>a :hat:</p>" }],
          tag
        })
      ]
      const me = yield* actorOf(anna)
      assert.sameMembers(names(yield* found(anna, "zoe")), ["cat", "fish", "hat"])
      const mention = mentioning(me)
      const object = note(zoe, "poll", {
        ...mention,
        type: "Question",
        content: "<p>:cat: <a href=\"https://x.test/:fish:\">there</a></p>",
        summary: "careful :unknown:",
        oneOf: [{ name: ":hat: yes" }, { name: "no" }],
        tag: [...mention.tag, ...tag]
      })
      assert.strictEqual(yield* deliverFrom(zoe, { type: "Create", object }), "done")
      const status = yield* received(anna)
      assert.deepStrictEqual([names(status), names(status.poll)], [["cat", "hat"], ["hat"]])
      const [{ static_url, url }] = status.emojis
      assert.match(url, /\/media_proxy\/[0-9a-f]{40}$/)
      assert.strictEqual(static_url, url)
      assert.deepStrictEqual((yield* bytesAt(url)).bytes, yield* png("#111111"))
      const history = yield* json(anna, `/api/v1/statuses/${status.id}/history`)
      assert.sameMembers(names(history[0]), ["cat", "hat"])
    }))

  it.effect("an emoji changes with its address or with a later `updated`, never back, and so does its picture", () =>
    Effect.gen(function*() {
      const [ben, yan] = [yield* newPerson("ben"), yield* there("yan")]
      const me = yield* actorOf(ben)
      let count = 0
      const shows = Effect.fnUntraced(function*(url: string, more: Json = {}) {
        const mention = mentioning(me)
        const tag = [...mention.tag, emoji("same", url, more)]
        yield* deliverFrom(yan, {
          type: "Create",
          object: note(yan, `${++count}`, { ...mention, content: `<p>:same: ${count}</p>`, tag })
        })
        const { emojis: [{ url: shown }] } = yield* received(ben)
        return shown
      })
      const at = (day: number) => ({ updated: `2026-01-0${day}T00:00:00Z` })
      const [one, two] = [yield* put("/one.png", "#222222"), yield* put("/two.png", "#333333")]
      const first = yield* shows(one, at(2))
      assert.deepStrictEqual((yield* bytesAt(first)).bytes, yield* png("#222222"))
      const second = yield* shows(two, at(3))
      assert.notStrictEqual(second, first)
      assert.deepStrictEqual((yield* bytesAt(second)).bytes, yield* png("#333333"))
      assert.strictEqual(yield* shows(one, at(1)), second)
      yield* put("/two.png", "#444444")
      assert.strictEqual(yield* shows(two, at(3)), second)
      assert.deepStrictEqual((yield* bytesAt(second)).bytes, yield* png("#333333"))
      assert.strictEqual(yield* shows(two, at(4)), second)
      assert.deepStrictEqual((yield* bytesAt(second)).bytes, yield* png("#444444"))
    }))

  it.effect("row 14, row 39: long names and forbidden addresses create no emoji; emoji are bounded per host", () =>
    Effect.gen(function*() {
      const [cleo, xeno] = [yield* newPerson("cleo"), yield* there("xeno")]
      const me = yield* actorOf(cleo)
      const cat = yield* put("/long.png", "#555555")
      const [fits, long] = ["a".repeat(shortcodeCharactersMax), "b".repeat(shortcodeCharactersMax + 1)]
      const given = [
        emoji(fits, cat),
        emoji(long, cat),
        emoji("script", "javascript:alert(1)"),
        emoji("nothing", ""),
        emoji("bad name", cat),
        emoji("x", cat)
      ]
      const mention = mentioning(me)
      const content = `<p>${
        [fits, long, "script", "nothing", "bad name", "x"].map((name) => `:${name}:`).join(" ")
      }</p>`
      yield* deliverFrom(xeno, {
        type: "Create",
        object: note(xeno, "many", { ...mention, content, tag: [...mention.tag, ...given] })
      })
      assert.deepStrictEqual(names(yield* received(cleo)), [fits])
      const read = (...tag: ReadonlyArray<Json>) => names({ emojis: foreignEmojis({ tag }, urlReader([])) })
      const safe = "https://files.example/a.png"
      assert.deepStrictEqual(read(emoji("plain", "http://files.example/a.png"), emoji("safe", safe)), ["safe"])
      assert.deepStrictEqual(read(emoji(fits, safe), emoji(long, safe)), [fits])
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* OtherServer
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at)
        SELECT n, 'full' || n, ${domain}, 'https://x.test/', 'https://x.test/', ${new Date()}
        FROM generate_series(1::bigint, ${hostEmojisMax}) n`
      const tag = [...mention.tag, emoji("more", cat), emoji("full7", cat)]
      yield* deliverFrom(xeno, {
        type: "Create",
        object: note(xeno, "more", { ...mention, content: "<p>:more: :full7:</p>", tag })
      })
      const { emojis } = yield* received(cleo)
      assert.deepStrictEqual(names({ emojis }), ["full7"])
      assert.match(emojis[0].url, /media_proxy/)
      // Two transactions at once, each with more than there is room for.
      yield* sql`DELETE FROM custom_emojis WHERE id IN (SELECT id FROM custom_emojis WHERE shortcode LIKE 'full%' LIMIT
        (SELECT count(*) - ${hostEmojisMax - 2}::int FROM custom_emojis WHERE domain = ${domain}))`
      const remote = yield* Effect.provide(RemoteEmojis, RemoteEmojis.layer)
      const added = (name: string) =>
        Array.from({ length: 4 }, (_, n) => ({ shortcode: `new_${name}${n}`, url: safe, updatedMillis: undefined }))
      yield* Effect.forEach(
        ["a", "b"],
        (name) => transaction(sql)(Effect.andThen(remote.keep(domain, added(name)), sql`SELECT pg_sleep(0.2)`)),
        { concurrency: 2 }
      )
      const [all] = yield* sql<
        { count: number }
      >`SELECT count(*)::int AS count FROM custom_emojis WHERE domain = ${domain}`
      assert.strictEqual(all!.count, hostEmojisMax)
      yield* sql`DELETE FROM custom_emojis WHERE shortcode LIKE 'full%' OR shortcode LIKE 'new_%'`
    }))

  it.effect("row 8: other hosts cannot change an emoji of another host or of this server", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at)
        VALUES (1, 'ours', NULL, 'https://here.test/ours', 'https://here.test/ours', ${new Date()}),
          (2, 'theirs', 'far.test', 'https://far.test/theirs', 'https://far.test/theirs', ${new Date()})`
      const [dora, will] = [yield* newPerson("dora"), yield* there("will")]
      const mention = mentioning(yield* actorOf(dora))
      const bad = yield* put("/bad.png", "#666666")
      const tag = [...mention.tag, emoji("ours", bad), emoji("theirs", bad, { id: "https://far.test/emojis/1" })]
      yield* deliverFrom(will, {
        type: "Create",
        object: note(will, "forged", { ...mention, content: "<p>:ours: :theirs:</p>", tag })
      })
      const rows = yield* sql<{ domain: string | null; url: string }>`
        SELECT domain, url FROM custom_emojis WHERE id IN (1, 2) ORDER BY id`
      assert.deepStrictEqual(rows.map(({ url }) => url), ["https://here.test/ours", "https://far.test/theirs"])
    }))
})
