import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fediverse, settled } from "../support/Fediverse.ts"
import { keyOperations, listener } from "./Listener.ts"
import { sendTo } from "./Speaking.ts"

it.live(
  "only who has a collection fills it, and only who is in it says so: others' ids are not heeded",
  () =>
    Effect.gen(function*() {
      const [here] = yield* fediverse(1)
      const there = yield* listener(here!)
      const anna = yield* here!.person("anna")
      yield* anna.ask("PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      const [zoe, eve] = [yield* there.actor("zoe"), yield* there.actor("eve")]
      const items = here!.sql<{ readonly state: string; readonly username: string | null; readonly name: string }>`
        SELECT i.state, a.username, c.name FROM collection_items i JOIN collections c ON c.id = i.collection_id
        LEFT JOIN accounts a ON a.id = i.account_id ORDER BY i.id`
      const uri = `${zoe.id}/collections/1`
      const collection = (more: Record<string, unknown> = {}) => ({
        id: uri,
        type: "FeaturedCollection",
        name: "x".repeat(400),
        summary: "<p>ok</p><script>alert(1)</script>",
        attributedTo: zoe.id,
        published: "9999-01-01T00:00:00Z",
        topic: { type: "Hashtag", name: "#Birds" },
        orderedItems: [
          { id: `${uri}/1`, type: "FeaturedItem", featuredObject: anna.uri, featureAuthorization: `${anna.uri}/x` },
          {
            id: `${uri}/2`,
            type: "FeaturedItem",
            featuredObject: "https://elsewhere.test/u",
            featureAuthorization: `${zoe.id}/x`
          },
          "nothing",
          null
        ],
        ...more
      })
      let sent = 0
      const send = (by: typeof zoe, activity: Record<string, unknown>) =>
        Effect.andThen(sendTo(here!, by)({ id: `${by.id}#a/${++sent}`, ...activity }), settled([here!]))
      // Nobody is in it because its owner says so, and no other may write of it.
      yield* send(zoe, { type: "Update", object: collection() })
      assert.deepStrictEqual(yield* items, [])
      const stored = yield* here!
        .sql`SELECT length(name) AS length, description, created_at < '2100-01-01' AS clamped FROM collections`
      assert.deepStrictEqual(stored, [{ length: 256, description: "<p>ok</p>", clamped: true }])
      yield* send(eve, { type: "Update", object: collection({ name: "stolen" }) })
      yield* send(eve, { type: "Update", object: collection({ name: "stolen", attributedTo: eve.id }) })
      assert.lengthOf(yield* here!.sql`SELECT FROM collections WHERE name = 'stolen'`, 0)

      // Who is asked for agrees by what she set, once.
      const request = (by: typeof zoe, id: string, more: Record<string, unknown> = {}) =>
        send(by, { id, type: "FeatureRequest", object: anna.uri, instrument: uri, ...more })
      yield* request(zoe, `${zoe.id}#r/1`)
      yield* request(zoe, `${zoe.id}#r/1`)
      assert.deepInclude((yield* items)[0], { state: "accepted", username: "anna" })
      assert.lengthOf(yield* items, 1)
      const answers = () =>
        there.heard.map(({ activity }) => activity).filter(({ type }) => type === "Accept" || type === "Reject")
      assert.deepInclude(answers()[0], { type: "Accept", object: `${zoe.id}#r/1` })
      // Another's collection is none of hers to fill.
      yield* request(eve, `${eve.id}#r/2`)
      assert.lengthOf(yield* items, 1)
      yield* anna.ask("PATCH", "/api/v1/accounts/update_credentials", { discoverable: false })
      yield* request(zoe, `${zoe.id}#r/3`, { instrument: `${zoe.id}/collections/2` })
      assert.deepInclude(answers().at(-1), { type: "Reject", object: `${zoe.id}#r/3` })

      // An answer to a request that nobody made, and another's.
      for (const by of [zoe, eve]) {
        yield* send(by, { type: "Accept", object: `${anna.uri}#feature_requests/1`, result: `${by.id}/stamp` })
        yield* send(by, { type: "Delete", object: `${anna.uri}/stamp` })
      }
      assert.lengthOf(yield* items, 1)
      yield* send(eve, { type: "Remove", target: uri, object: `${uri}/1` })
      assert.lengthOf(yield* items, 1)
    }).pipe(Effect.provide(keyOperations), Effect.scoped),
  120_000
)
