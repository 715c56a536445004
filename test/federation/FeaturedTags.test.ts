import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled } from "../support/Fediverse.ts"
import { keyOperations, listener } from "./Listener.ts"

const tagsOf = (all: ReadonlyArray<{ name: string }>) => all.map(({ name }) => name).toSorted()

it.live(
  "S-215, S-009: featured hashtags are sent to remote followers, and fetched on first view",
  () =>
    Effect.gen(function*() {
      const instances = yield* fediverse(2)
      const [here, there] = [instances[0]!, instances[1]!]
      const [anna, zoe] = [yield* here.person("anna"), yield* there.person("zoe")]
      const feature = (name: string) => anna.ask("POST", "/api/v1/featured_tags", { name })
      yield* feature("Cats")
      yield* zoe.follow(anna)
      yield* settled(instances)
      const { id } = yield* zoe.find(anna)
      const seen = zoe.ask("GET", `/api/v1/accounts/${id}/featured_tags`)
      // The first view of the profile fetches the collection.
      yield* zoe.ask("GET", `/api/v1/accounts/${id}/statuses`)
      assert.deepStrictEqual(tagsOf(yield* eventually(seen, ({ length }) => length > 0)), ["Cats"])
      const { id: dogs } = yield* feature("Dogs")
      yield* settled(instances)
      assert.deepStrictEqual(tagsOf(yield* seen), ["Cats", "Dogs"])
      yield* anna.ask("DELETE", `/api/v1/featured_tags/${dogs}`)
      yield* settled(instances)
      assert.deepStrictEqual(tagsOf(yield* seen), ["Cats"])
      const response = yield* here.fetch("/users/anna/collections/tags", {
        headers: { accept: "application/activity+json" }
      })
      assert.deepInclude(yield* Effect.promise(() => response.json()), {
        id: `${anna.uri}/collections/tags`,
        type: "Collection",
        totalItems: 1,
        items: [{ type: "Hashtag", href: `${here.origin}/@anna/tagged/Cats`, name: "#Cats" }]
      })
    }).pipe(Effect.scoped)
)

it.live(
  "S-215: the Add of a hashtag names the featured collection and has a new id each time",
  () =>
    Effect.gen(function*() {
      const [here] = yield* fediverse(1)
      const there = yield* listener()
      const anna = yield* here!.person("anna")
      const zoe = yield* there.actor("zoe")
      yield* anna.find({ handle: `zoe@${there.domain}` })
      yield* here!.sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        SELECT 1, id, ${anna.accountId}, ${new Date()} FROM accounts WHERE uri = ${zoe.id}`
      for (const name of ["one", "two"]) yield* anna.ask("POST", "/api/v1/featured_tags", { name })
      yield* anna.ask("POST", "/api/v1/tags/one/unfeature")
      yield* settled([here!])
      const told = there.received.map(({ activity }) => activity)
      assert.deepStrictEqual(told.map(({ object, type }) => `${type} ${object.type} ${object.name}`), [
        "Add Hashtag #one",
        "Add Hashtag #two",
        "Remove Hashtag #one"
      ])
      assert.isTrue(told.every(({ target }) => target === `${anna.uri}/collections/featured`))
      assert.strictEqual(new Set(told.map(({ id }) => id)).size, 3)
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)
