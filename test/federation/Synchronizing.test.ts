import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled } from "../support/Fediverse.ts"

it.live(
  "FEP-8fcf: servers that disagree about followers agree again after a post for followers",
  () =>
    Effect.gen(function*() {
      const [here, there] = yield* fediverse(2)
      const instances = [here!, there!]
      const anna = yield* here!.person("anna")
      const [zoe, yan, xan] = [
        yield* there!.person("zoe"),
        yield* there!.person("yan"),
        yield* there!.person("xan")
      ]
      for (const follower of [zoe, yan, xan]) yield* follower.follow(anna)
      yield* settled(instances)
      const followersHere = Effect.map(
        Effect.orDie(
          here!.sql<{ username: string }>`SELECT a.username FROM follows f JOIN accounts a ON a.id = f.account_id
        WHERE f.target_account_id = ${anna.accountId} ORDER BY 1`
        ),
        (rows) => rows.map(({ username }) => username)
      )
      assert.deepStrictEqual(yield* followersHere, ["xan", "yan", "zoe"])
      // Each side loses one follow.
      yield* here!.sql`DELETE FROM follows WHERE account_id = (SELECT id FROM accounts WHERE username = 'zoe')`
      yield* there!.sql`DELETE FROM follows WHERE account_id = ${yan.accountId}`
      assert.isTrue((yield* zoe.relationship(anna)).following)

      yield* anna.post("for followers", { visibility: "private" })
      const agreed = Effect.gen(function*() {
        yield* settled(instances)
        return (yield* followersHere).join() === "xan" && !(yield* zoe.relationship(anna)).following
      })
      yield* eventually(agreed, (done) => done)
      assert.isTrue((yield* xan.relationship(anna)).following)
      assert.isFalse((yield* yan.relationship(anna)).following)
    }).pipe(Effect.scoped)
)

it.live("FEP-8fcf: an unsigned request gets no followers", () =>
  Effect.gen(function*() {
    const [here] = yield* fediverse(1)
    yield* here!.person("anna")
    const response = yield* here!.fetch("/users/anna/followers_synchronization")
    assert.strictEqual(response.status, 401)
  }).pipe(Effect.scoped), 180_000)
