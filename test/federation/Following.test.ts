import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fediverse, outcomes, settled } from "../support/Fediverse.ts"

it.live(
  "S-009: two servers follow, post and unfollow each other, and each action takes effect once",
  () =>
    Effect.gen(function*() {
      const [here, there] = yield* fediverse(2)
      const instances = [here!, there!]
      const [anna, zoe] = [yield* here!.person("anna"), yield* there!.person("zoe")]

      yield* anna.follow(zoe)
      yield* settled(instances)
      assert.isTrue((yield* anna.relationship(zoe)).following)
      assert.isTrue((yield* zoe.relationship(anna)).followed_by)
      assert.deepStrictEqual(yield* zoe.notifications, ["follow anna"])
      yield* zoe.follow(anna)
      yield* settled(instances)
      assert.isTrue((yield* anna.relationship(zoe)).followed_by)

      const post = yield* zoe.post("hello from over there")
      yield* settled(instances)
      const [seen, ...others] = yield* anna.home
      assert.deepInclude(seen, { uri: post.uri, visibility: "public", content: post.content })
      assert.isEmpty(others)
      const response = yield* anna.post("hello back")
      yield* settled(instances)
      assert.sameMembers((yield* zoe.home).map(({ uri }) => uri), [response.uri, post.uri])

      const { id } = yield* anna.find(zoe)
      yield* anna.ask("POST", `/api/v1/accounts/${id}/unfollow`)
      yield* settled(instances)
      assert.isFalse((yield* anna.relationship(zoe)).following)
      assert.isFalse((yield* zoe.relationship(anna)).followed_by)
      yield* zoe.post("does anybody hear me?")
      yield* settled(instances)
      assert.lengthOf(yield* anna.home, 1)
      for (const instance of instances) {
        assert.deepStrictEqual([...new Set(yield* outcomes(instance))], ["done"])
      }
    }).pipe(Effect.scoped)
)
