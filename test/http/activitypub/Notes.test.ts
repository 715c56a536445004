import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publicCollection } from "../../../src/services/federation/documents/Vocabulary.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { documentAt } from "../../support/Requests.ts"
import { server } from "../../support/WebServer.ts"

const here = "https://local.example"

const visibilities = ["public", "unlisted", "private", "direct"] as const

layer(server(), { excludeTestServices: true })("notes", (it) => {
  it.effect("S-009: a status is a Note, inside a Create", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben] = [yield* person("anna"), yield* person("ben")]
      const parent = yield* status(ben, "question")
      const id = yield* status(anna, "answer", { inReplyTo: parent, spoilerText: "careful", tag: "birds" })
      yield* sql`UPDATE statuses SET language = 'en' WHERE id = ${id}`
      yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (${id}, ${ben})`
      yield* sql`UPDATE status_stats SET favourites_count = 2, reblogs_count = 3 WHERE status_id = ${id}`
      const own = yield* status(anna, "more", { inReplyTo: id })
      const uri = `${here}/users/anna/statuses/${id}`
      const { headers, json } = yield* documentAt(`/users/anna/statuses/${id}`)
      assert.strictEqual(headers.get("content-type"), "application/activity+json; charset=utf-8")
      assert.deepInclude(json, {
        id: uri,
        type: "Note",
        url: `${here}/@anna/${id}`,
        attributedTo: `${here}/users/anna`,
        inReplyTo: `${here}/users/ben/statuses/${parent}`,
        atomUri: uri,
        inReplyToAtomUri: `${here}/users/ben/statuses/${parent}`,
        content: "<p>answer</p>",
        summary: "careful",
        sensitive: true
      })
      assert.deepStrictEqual(json.to, [publicCollection])
      assert.deepStrictEqual(json.cc, [`${here}/users/anna/followers`, `${here}/users/ben`])
      assert.strictEqual(json.conversation.startsWith("tag:") || json.conversation.startsWith(here), true)
      assert.deepStrictEqual(json.contentMap, { en: "<p>answer</p>" })
      assert.deepStrictEqual(json.summaryMap, { en: "careful" })
      assert.deepStrictEqual(json.tag, [
        { type: "Mention", href: `${here}/users/ben`, name: "@ben@local.example" },
        { type: "Hashtag", href: `${here}/tags/birds`, name: "#birds" }
      ])
      assert.strictEqual(json.likes.totalItems, 2)
      assert.strictEqual(json.shares.totalItems, 3)
      assert.deepStrictEqual(json.replies.first.items, [`${here}/users/anna/statuses/${own}`])
      assert.deepStrictEqual((yield* documentAt(`/@anna/${id}`)).json, json)
      assert.strictEqual((yield* documentAt(`/users/anna/statuses/${id}/likes`)).json.totalItems, 2)
      const create = (yield* documentAt(`/users/anna/statuses/${id}/activity`)).json
      assert.deepInclude(create, { id: `${uri}/activity`, type: "Create", actor: `${here}/users/anna` })
      assert.strictEqual(create.object.id, uri)
      assert.deepStrictEqual(create.to, json.to)
    }))

  it.effect("a reblog is an Announce of the original's id", () =>
    Effect.gen(function*() {
      const [cleo, dora] = [yield* person("cleo"), yield* person("dora")]
      const original = yield* status(dora, "original")
      const id = yield* status(cleo, "", { reblogOf: original })
      const { json } = yield* documentAt(`/users/cleo/statuses/${id}/activity`)
      assert.deepInclude(json, { type: "Announce", object: `${here}/users/dora/statuses/${original}` })
      assert.deepStrictEqual(json.to, [publicCollection])
      assert.deepStrictEqual(json.cc, [`${here}/users/dora`, `${here}/users/cleo/followers`])
    }))

  it.effect("row 55: restricted posts are in no public document", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const erik = yield* person("erik")
      const root = yield* status(erik, "root")
      const ids = yield* Effect.forEach(visibilities, (visibility) =>
        status(erik, visibility, { visibility, inReplyTo: root }))
      for (const id of ids) {
        yield* sql`INSERT INTO status_pins (account_id, status_id, id) VALUES (${erik}, ${id}, next_id(${now}))`
      }
      for (const [index, id] of ids.entries()) {
        const expected = index < 2 ? 200 : 404
        for (const part of ["", "/activity", "/replies", "/likes", "/shares"]) {
          assert.strictEqual(
            (yield* documentAt(`/users/erik/statuses/${id}${part}`)).status,
            expected,
            `${visibilities[index]} ${part}`
          )
        }
      }
      const named = (text: string) =>
        ids.filter((id) => text.includes(String(id)))
      for (
        const path of [
          "/outbox?page=true",
          "/collections/featured",
          `/statuses/${root}/replies?page=true`,
          `/statuses/${root}`
        ]
      ) {
        assert.sameMembers(named((yield* documentAt(`/users/erik${path}`)).text), ids.slice(0, 2), path)
      }
    }))

  it.effect("row 57: unreadable, unknown and another account's posts get the same response; a deleted public one leaves a tombstone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [frida, gina] = [yield* person("frida"), yield* person("gina")]
      const secret = yield* status(frida, "secret", { visibility: "private" })
      const others = yield* status(gina, "another's")
      const responses = yield* Effect.forEach(
        [String(secret), String(others), "123", "99999999999999999999", "x", `${secret}0`],
        (id) => documentAt(`/users/frida/statuses/${id}`)
      )
      for (const { headers, status, text } of responses) {
        assert.strictEqual(status, 404)
        assert.strictEqual(text, responses[0]?.text)
        assert.strictEqual(headers.get("cache-control"), "private, no-store")
      }
      const open = yield* status(frida, "open")
      yield* sql`UPDATE statuses SET deleted_at = ${new Date()} WHERE id IN (${open}, ${secret})`
      assert.strictEqual((yield* documentAt(`/users/frida/statuses/${secret}`)).status, 404)
      const gone = yield* documentAt(`/users/frida/statuses/${open}`)
      assert.strictEqual(gone.status, 410)
      const uri = `${here}/users/frida/statuses/${open}`
      assert.deepInclude(gone.json, { id: uri, type: "Tombstone", atomUri: uri })
      assert.notInclude(gone.text, "<p>")
    }))

  it.effect("the outbox in pages, newest first, both ways", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const hugo = yield* person("hugo")
      const ids = yield* Effect.forEach(Array.from({ length: 45 }), (_, n) => status(hugo, `post ${n}`))
      yield* sql`UPDATE account_stats SET statuses_count = 45 WHERE account_id = ${hugo}`
      const front = (yield* documentAt("/users/hugo/outbox")).json
      assert.deepInclude(front, { type: "OrderedCollection", totalItems: 45 })
      const found: Array<string> = []
      const sizes: Array<number> = []
      let next: string | undefined = front.first
      let before: string | undefined
      while (next !== undefined) {
        const page: { id: string; next?: string; prev?: string; orderedItems: Array<{ id: string }> } =
          (yield* documentAt(next.slice(here.length))).json
        assert.strictEqual(page.id, next)
        found.push(...page.orderedItems.map(({ id }) => id))
        sizes.push(page.orderedItems.length)
        if (page.next === undefined) before = page.prev
        next = page.next
      }
      assert.deepStrictEqual(sizes, [20, 20, 5])
      assert.deepStrictEqual(found, ids.toReversed().map((id) => `${here}/users/hugo/statuses/${id}/activity`))
      const back = (yield* documentAt((before ?? "").slice(here.length))).json
      assert.deepStrictEqual(back.orderedItems.map(({ id }: { id: string }) => id), found.slice(20, 40))
    }))

  it.effect("the author's replies come first, then those of others", () =>
    Effect.gen(function*() {
      const [iris, jan] = [yield* person("iris"), yield* person("jan")]
      const root = yield* status(iris, "root")
      const others = yield* Effect.forEach(Array.from({ length: 61 }), () => status(jan, "reply", { inReplyTo: root }))
      const own = yield* status(iris, "own", { inReplyTo: root })
      const items: Array<string> = []
      let next: string | undefined = (yield* documentAt(`/users/iris/statuses/${root}/replies`)).json.first
      while (next !== undefined) {
        const page: { next?: string; items: Array<string> } = (yield* documentAt(next.slice(here.length))).json
        items.push(...page.items)
        next = page.next
      }
      assert.deepStrictEqual(items, [
        `${here}/users/iris/statuses/${own}`,
        ...others.map((id) => `${here}/users/jan/statuses/${id}`)
      ])
    }))

  it.effect("F42: a note leads to all of its author's own replies, its thread is a collection, and times have milliseconds", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [kim, lou] = [yield* person("kim"), yield* person("lou")]
      const root = yield* status(kim, "root")
      const own = yield* Effect.forEach(Array.from({ length: 7 }), () => status(kim, "own", { inReplyTo: root }))
      const other = yield* status(lou, "other", { inReplyTo: root })
      const hidden = yield* status(lou, "hidden", { inReplyTo: root })
      yield* sql`UPDATE statuses SET visibility = 'private' WHERE id = ${hidden}`
      yield* sql`UPDATE statuses SET conversation_id = ${root} WHERE id = ${root} OR in_reply_to_id = ${root}`
      const uriOf = (name: string) => (id: bigint) => `${here}/users/${name}/statuses/${id}`
      const read = Effect.fnUntraced(function*(first: { items: Array<string>; next?: string }) {
        const items = [...first.items]
        for (let { next } = first; next !== undefined;) {
          const page: { next?: string; items: Array<string> } = (yield* documentAt(next.slice(here.length))).json
          items.push(...page.items)
          next = page.next
        }
        return items
      })
      const { json } = yield* documentAt(`/users/kim/statuses/${root}`)
      assert.match(json.published, /\.\d{3}Z$/)
      assert.match((yield* documentAt(`/users/kim/statuses/${root}/activity`)).json.published, /\.\d{3}Z$/)
      assert.deepStrictEqual(yield* read(json.replies.first), [...own.map(uriOf("kim")), uriOf("lou")(other)])
      const thread = (yield* documentAt(json.context.slice(here.length))).json
      assert.deepInclude(thread, { id: json.context, type: "Collection", attributedTo: `${here}/users/kim` })
      assert.deepStrictEqual(yield* read({ items: [], next: thread.first }), [
        uriOf("kim")(root),
        ...own.map(uriOf("kim")),
        uriOf("lou")(other)
      ])
      assert.strictEqual((yield* documentAt(`/contexts/${hidden}`)).status, 404)
      assert.strictEqual((yield* documentAt("/contexts/x")).status, 404)
    }))
})
