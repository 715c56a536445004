import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled, type TestInstance } from "../support/Fediverse.ts"

const feed = { headers: { accept: "application/activity+json" } }
const textOf = (instance: TestInstance, path: string, init = {}) =>
  Effect.flatMap(
    instance.fetch(path, init),
    (response) => Effect.map(Effect.promise(() => response.text()), (text) => [response.status, text] as const)
  )
const secret = "starlings"

it.live(
  "D-004: a local-only post never leaves this server, and visitors cannot find it",
  () =>
    Effect.gen(function*() {
      const instances = yield* fediverse(2)
      const [here, there] = [instances[0]!, instances[1]!]
      const [anna, ben, zoe] = [yield* here.person("anna"), yield* here.person("ben"), yield* there.person("zoe")]
      yield* zoe.follow(anna)
      yield* zoe.follow(ben)
      yield* ben.follow(anna)
      yield* settled(instances)

      const post = yield* anna.post(`${secret} #${secret} @${zoe.handle}`, { local_only: true })
      assert.deepInclude(post, { local_only: true, visibility: "public" })
      const akkoma = yield* anna.post(secret, { visibility: "local" })
      assert.deepInclude(akkoma, { local_only: true, visibility: "public" })
      const open = yield* anna.post("for everybody")
      assert.notProperty(open, "local_only")
      // Replies, quotes and boosts are local-only, whatever their author requests.
      const reply = yield* ben.post(`${secret}!`, { in_reply_to_id: post.id, local_only: false })
      const quote = yield* ben.post(`${secret}?`, { quoted_status_id: akkoma.id })
      const boost = yield* ben.ask("POST", `/api/v1/statuses/${post.id}/reblog`)
      for (const one of [reply, quote, boost]) assert.strictEqual(one.local_only, true)
      const later = yield* anna.post(secret, { local_only: true, scheduled_at: "2099-01-01T00:00:00Z" })
      assert.strictEqual(later.params.local_only, true)
      yield* anna.ask("POST", `/api/v1/statuses/${post.id}/pin`)
      yield* anna.ask("PUT", `/api/v1/statuses/${post.id}`, { status: `${secret} again #${secret} @${zoe.handle}` })
      const gone = yield* anna.post(`${secret} gone`, { local_only: true })
      yield* anna.ask("DELETE", `/api/v1/statuses/${gone.id}`)
      yield* ben.ask("POST", `/api/v1/statuses/${post.id}/favourite`)
      yield* ben.ask("PUT", `/api/v1/pleroma/statuses/${post.id}/reactions/%F0%9F%94%A5`)
      yield* settled(instances)

      // Local users see it everywhere.
      const members = yield* ben.home
      for (const { id } of [post, akkoma]) assert.include(members.map((one) => one.id), id)
      const found = yield* eventually(
        ben.ask("GET", `/api/v1/timelines/tag/${secret}`),
        (all) => all.length > 0
      )
      assert.strictEqual(found[0].id, post.id)

      // No delivery was sent.
      const sent = yield* here.sql<{ document: unknown }>`SELECT document FROM outgoing_activities`
      const documents = sent.map(({ document }) => typeof document === "string" ? document : JSON.stringify(document))
      for (const text of documents) {
        assert.notInclude(text, secret)
        for (const { id } of [post, akkoma, reply, quote, boost, gone]) assert.notInclude(text, id)
      }
      const held = yield* there.sql`SELECT uri, html FROM statuses WHERE html LIKE ${`%${secret}%`}`
      assert.deepStrictEqual(held, [])

      // No request gets it, unsigned or signed by another server.
      const ids = [post, akkoma, reply, quote, boost].map(({ id }) => String(id))
      const never = "4711"
      const paths = (id: string) => [
        `/api/v1/statuses/${id}`,
        `/api/v1/statuses/${id}/context`,
        `/api/v1/statuses/${id}/history`,
        `/api/v1/statuses/${id}/favourited_by`,
        `/api/v1/pleroma/statuses/${id}/reactions`,
        `/api/oembed?url=${encodeURIComponent(`${here.origin}/@anna/${id}`)}`
      ]
      for (const id of ids) {
        for (const [at, path] of paths(id).entries()) {
          const missing = yield* textOf(here, paths(never)[at]!)
          assert.deepStrictEqual(yield* textOf(here, path), missing, path)
        }
        for (const who of ["anna", "ben"]) {
          for (const part of ["", "/activity", "/replies", "/likes", "/shares", "/emoji_reactions"]) {
            const path = `/users/${who}/statuses/${id}${part}`
            assert.deepStrictEqual((yield* textOf(here, path, feed))[0], 404, path)
          }
          const [status, page] = yield* textOf(here, `/@${who}/${id}`)
          assert.notInclude(page, secret, `${status}`)
          assert.include([404, 302, 301], status)
        }
        const asked = yield* zoe.ask(
          "GET",
          `/api/v2/search?resolve=true&q=${encodeURIComponent(`${here.origin}/users/anna/statuses/${id}`)}`
        )
        assert.deepStrictEqual(asked.statuses, [])
      }
      // A deleted local-only post has no tombstone.
      assert.strictEqual((yield* textOf(here, `/users/anna/statuses/${gone.id}`, feed))[0], 404)
      const documentsOf = [
        "/users/anna/outbox?page=true",
        "/users/anna/collections/featured",
        `/contexts/${post.id}`,
        `/users/anna/statuses/${open.id}/replies?page=true`
      ]
      for (const path of documentsOf) assert.notInclude((yield* textOf(here, path, feed))[1], secret, path)
      const open2 = [
        "/api/v1/timelines/public",
        `/api/v1/timelines/tag/${secret}`,
        `/api/v1/accounts/${anna.accountId}/statuses`,
        `/api/v1/accounts/${anna.accountId}/statuses?pinned=true`,
        `/api/v1/accounts/${ben.accountId}/statuses`,
        "/api/v1/trends/statuses",
        "/@anna",
        "/@ben",
        `/tags/${secret}`
      ]
      for (const path of open2) {
        const [, text] = yield* textOf(here, path)
        // The page of a hashtag contains the hashtag.
        if (!path.startsWith("/tags")) assert.notInclude(text, secret, path)
        for (const id of ids) assert.notInclude(text, id, path)
      }
      const { configuration } = yield* anna.ask("GET", "/api/v2/instance")
      assert.strictEqual(configuration.statuses.local_only, true)
    }).pipe(Effect.scoped)
)
