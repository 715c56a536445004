import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fediverse, settled, type TestUser } from "../support/Fediverse.ts"

const local = (by: TestUser, uri: string) =>
  Effect.map(
    by.ask("GET", `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(uri)}`),
    ({ statuses: [found] }) => found
  )
/** Returns the replies that a viewer sees below a post. */
const below = Effect.fnUntraced(function*(by: TestUser, uri: string) {
  const { id } = yield* local(by, uri)
  const { descendants } = yield* by.ask("GET", `/api/v1/statuses/${id}/context`)
  return descendants.map(({ content }: { content: string }) => content.replace(/<[^>]*>/g, "").split(" ").at(-1))
})

it.live(
  "a reply is removed from a thread for everybody: here, on its author's server, and on those of followers; a block removes all of them, and quotes",
  () =>
    Effect.gen(function*() {
      const [here, there, elsewhere] = yield* fediverse(3)
      const done = settled([here!, there!, elsewhere!])
      const [anna, ben] = [yield* here!.person("anna"), yield* here!.person("ben")]
      const [zoe, max] = [yield* there!.person("zoe"), yield* elsewhere!.person("max")]
      yield* max.follow(anna)
      yield* max.follow(zoe)
      yield* zoe.follow(anna)
      yield* done
      const post = yield* anna.post("a thread")
      yield* done
      const reply = Effect.fnUntraced(function*(by: TestUser, text: string) {
        const { id } = yield* local(by, post.uri)
        const created = yield* by.post(`@${anna.handle} ${text}`, { in_reply_to_id: id })
        yield* done
        return created
      })
      const [rude, kind, near] = [yield* reply(zoe, "rude"), yield* reply(zoe, "kind"), yield* reply(ben, "near")]
      assert.deepStrictEqual(yield* below(anna, post.uri), ["rude", "kind", "near"])
      for (const by of [zoe, max]) assert.includeMembers(yield* below(by, post.uri), ["rude", "kind"])
      const known = yield* local(anna, rude.uri)
      const path = (id: string) => `/api/v1/statuses/${post.id}/replies/${id}/remove`
      const refused = Effect.fnUntraced(function*(by: TestUser, id: string) {
        return (yield* here!.fetch(path(id), { method: "POST", token: by.token })).status
      })
      assert.deepStrictEqual(
        [yield* refused(ben, known.id), yield* refused(anna, post.id), yield* refused(anna, "1")],
        [404, 404, 404]
      )
      const removed = yield* anna.ask("POST", path(known.id))
      assert.isNull(removed.in_reply_to_id)
      assert.strictEqual(yield* refused(anna, known.id), 404)
      yield* done
      assert.deepStrictEqual(yield* below(anna, post.uri), ["kind", "near"])
      for (const by of [zoe, max]) assert.notInclude(yield* below(by, post.uri), "rude")
      assert.strictEqual((yield* anna.ask("GET", `/api/v1/statuses/${post.id}`)).replies_count, 2)
      assert.isNull((yield* zoe.ask("GET", `/api/v1/statuses/${rude.id}`)).in_reply_to_id)

      const quote = yield* ben.post("look", { quoted_status_id: post.id })
      yield* anna.ask("POST", `/api/v1/accounts/${(yield* anna.find(zoe)).id}/block`)
      yield* anna.ask("POST", `/api/v1/accounts/${ben.accountId}/block`)
      yield* done
      for (const by of [anna, max]) assert.deepStrictEqual(yield* below(by, post.uri), [])
      assert.isNull((yield* zoe.ask("GET", `/api/v1/statuses/${kind.id}`)).in_reply_to_id)
      assert.isNull((yield* ben.ask("GET", `/api/v1/statuses/${near.id}`)).in_reply_to_id)
      assert.strictEqual((yield* ben.ask("GET", `/api/v1/statuses/${quote.id}`)).quote.state, "revoked")
      assert.strictEqual((yield* anna.ask("GET", `/api/v1/statuses/${post.id}`)).replies_count, 0)
    }).pipe(Effect.scoped)
)
