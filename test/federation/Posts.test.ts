import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fediverse, outcomes, settled, type TestUser } from "../support/Fediverse.ts"

/** Sets up Anna here and Zoe there, who follow each other. */
const friends = Effect.gen(function*() {
  const [here, there] = yield* fediverse(2)
  const instances = [here!, there!]
  const [anna, zoe] = [yield* here!.person("anna"), yield* there!.person("zoe")]
  yield* anna.follow(zoe)
  yield* zoe.follow(anna)
  yield* settled(instances)
  return { anna, zoe, instances, done: settled(instances) }
})

const local = (by: TestUser, uri: string) =>
  Effect.map(
    by.ask("GET", `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(uri)}`),
    (
      { statuses: [found] }: {
        statuses: ReadonlyArray<{ id: string; content: string; mentions: ReadonlyArray<unknown> }>
      }
    ) => found
  )

it.live(
  "S-009: favourites, boosts, replies, edits and deletions arrive, once, and are undone",
  () =>
    Effect.gen(function*() {
      const { anna, done, instances, zoe } = yield* friends
      const post = yield* zoe.post("a post to react to")
      yield* done
      const copy = yield* local(anna, post.uri)
      const at = `/api/v1/statuses/${copy!.id}`
      yield* anna.ask("POST", `${at}/favourite`)
      yield* anna.ask("POST", `${at}/reblog`)
      const reply = yield* anna.post(`@${zoe.handle} a reply`, { in_reply_to_id: copy!.id })
      yield* done
      assert.sameMembers([...(yield* zoe.notifications)], [
        "follow anna",
        "favourite anna",
        "reblog anna",
        "mention anna"
      ])
      const counts = (post: Record<string, unknown>) => [
        post["favourites_count"],
        post["reblogs_count"],
        post["replies_count"]
      ]
      const own = `/api/v1/statuses/${post.id}`
      assert.deepStrictEqual(counts(yield* zoe.ask("GET", own)), [1, 1, 1])
      const { descendants } = yield* zoe.ask("GET", `${own}/context`)
      assert.deepStrictEqual(descendants.map(({ uri }: { uri: string }) => uri), [reply.uri])

      yield* zoe.ask("PUT", own, { status: "an edited post" })
      yield* done
      assert.include((yield* local(anna, post.uri))!.content, "an edited post")

      yield* anna.ask("POST", `${at}/unfavourite`)
      yield* anna.ask("POST", `${at}/unreblog`)
      yield* anna.ask("DELETE", `/api/v1/statuses/${reply.id}`)
      yield* done
      assert.deepStrictEqual(counts(yield* zoe.ask("GET", own)), [0, 0, 0])
      assert.deepStrictEqual(yield* zoe.notifications, ["follow anna"])

      yield* zoe.ask("DELETE", own)
      yield* done
      assert.isUndefined(yield* local(anna, post.uri))
      assert.isEmpty(yield* anna.home)
      for (const instance of instances) assert.deepStrictEqual([...new Set(yield* outcomes(instance))], ["done"])
    }).pipe(Effect.scoped)
)

it.live(
  "row 67, F44: posts for followers and mentioned accounts reach only them, and so do edits that drop all mentions",
  () =>
    Effect.gen(function*() {
      const [here, there, elsewhere] = yield* fediverse(3)
      const instances = [here!, there!, elsewhere!]
      const anna = yield* here!.person("anna")
      const [zoe, max] = [yield* there!.person("zoe"), yield* elsewhere!.person("max")]
      yield* zoe.follow(anna)
      yield* settled(instances)
      yield* elsewhere!.sql`INSERT INTO notification_policies (account_id, private_mentions)
        SELECT id, 'accept' FROM accounts WHERE username = 'max' AND domain IS NULL`
      // Max is still unknown here.
      const direct = yield* anna.post(`@${max.handle} only for you`, { visibility: "direct" })
      const few = yield* anna.post("only for followers", { visibility: "private" })
      yield* settled(instances)
      const stored = (instance: typeof here) =>
        Effect.map(
          Effect.orDie(instance!.sql<{ uri: string }>`SELECT uri FROM statuses WHERE NOT local ORDER BY id`),
          (rows) => rows.map(({ uri }) => uri)
        )
      assert.deepStrictEqual(yield* stored(there), [few.uri])
      assert.deepStrictEqual(yield* stored(elsewhere), [direct.uri])
      assert.deepStrictEqual((yield* zoe.home).map(({ uri }) => uri), [few.uri])
      assert.deepStrictEqual(yield* max.notifications, ["mention anna"])
      // Accounts mentioned in an earlier version may read and like the next one; others may not, here or there.
      const [mia, ben] = [yield* elsewhere!.person("mia"), yield* here!.person("ben")]
      yield* anna.ask("PUT", `/api/v1/statuses/${direct.id}`, { status: "for nobody in particular" })
      yield* settled(instances)
      const copy = yield* local(max, direct.uri)
      assert.deepInclude(copy, { content: "<p>for nobody in particular</p>", mentions: [] })
      yield* max.ask("POST", `/api/v1/statuses/${copy!.id}/favourite`)
      yield* settled(instances)
      assert.include(yield* anna.notifications, "favourite max")
      assert.deepStrictEqual(yield* max.notifications, ["mention anna"])
      const closed = [[mia, copy!.id, elsewhere], [ben, direct.id, here]] as const
      for (const [by, id, at] of closed) {
        assert.strictEqual((yield* at!.fetch(`/api/v1/statuses/${id}`, { token: by.token })).status, 404)
      }
      assert.deepStrictEqual(yield* stored(there), [few.uri])
      // The deletion is sent to those who had the post.
      yield* anna.ask("DELETE", `/api/v1/statuses/${few.id}`)
      yield* settled(instances)
      assert.isEmpty(yield* zoe.home)
      assert.deepStrictEqual(yield* outcomes(elsewhere!), ["done", "done"])
      // An edit of a public post still addresses accounts that it no longer mentions, because it may overtake the post.
      const open = yield* anna.post(`@${max.handle} hello`)
      const edited = yield* anna.ask("PUT", `/api/v1/statuses/${open.id}`, { status: "hello everybody" })
      const document = yield* here!.fetch(new URL(edited.uri).pathname, {
        headers: { accept: "application/activity+json" }
      })
      assert.deepInclude(yield* Effect.promise(() => document.json()), {
        cc: [`${anna.uri}/followers`, max.uri],
        tag: []
      })
    }).pipe(Effect.scoped)
)
