import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fediverse, settled } from "../support/Fediverse.ts"

it.live(
  "S-009: a locked account accepts, rejects and removes followers of another server, and blocks them",
  () =>
    Effect.gen(function*() {
      const [here, there] = yield* fediverse(2)
      const instances = [here!, there!]
      const [anna, zoe, yan] = [
        yield* here!.person("anna"),
        yield* there!.person("zoe"),
        yield* there!.person("yan")
      ]
      yield* anna.ask("PATCH", "/api/v1/accounts/update_credentials", { locked: true })
      yield* zoe.follow(anna)
      yield* yan.follow(anna)
      yield* settled(instances)
      assert.isTrue((yield* zoe.relationship(anna)).requested)
      const requests = yield* anna.ask("GET", "/api/v1/follow_requests")
      assert.sameMembers(requests.map(({ username }: { username: string }) => username), ["zoe", "yan"])
      const idOf = (name: string) => requests.find(({ username }: { username: string }) => username === name).id
      yield* anna.ask("POST", `/api/v1/follow_requests/${idOf("zoe")}/authorize`)
      yield* anna.ask("POST", `/api/v1/follow_requests/${idOf("yan")}/reject`)
      yield* settled(instances)
      assert.deepInclude(yield* zoe.relationship(anna), { following: true, requested: false })
      assert.deepInclude(yield* yan.relationship(anna), { following: false, requested: false })

      yield* anna.ask("POST", `/api/v1/accounts/${idOf("zoe")}/remove_from_followers`)
      yield* settled(instances)
      assert.isFalse((yield* zoe.relationship(anna)).following)

      // Unlocking accepts waiting requests.
      yield* zoe.follow(anna)
      yield* settled(instances)
      yield* anna.ask("PATCH", "/api/v1/accounts/update_credentials", { locked: false })
      yield* settled(instances)
      assert.isTrue((yield* zoe.relationship(anna)).following)
      yield* anna.follow(zoe)
      yield* settled(instances)
      assert.isTrue((yield* anna.relationship(zoe)).following)

      const annaThere = yield* zoe.find(anna)
      yield* anna.ask("POST", `/api/v1/accounts/${idOf("zoe")}/block`)
      yield* settled(instances)
      // A blocked account can no longer find the blocker; their relations have ended.
      const [blocked] = yield* zoe.ask("GET", `/api/v1/accounts/relationships?id=${annaThere.id}`)
      assert.deepInclude(blocked, { following: false, followed_by: false, blocked_by: true })
      yield* anna.ask("POST", `/api/v1/accounts/${idOf("zoe")}/unblock`)
      yield* settled(instances)
      assert.isFalse((yield* zoe.relationship(anna)).blocked_by)
      yield* zoe.follow(anna)
      yield* settled(instances)
      assert.isTrue((yield* zoe.relationship(anna)).following)
    }).pipe(Effect.scoped)
)
