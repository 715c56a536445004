import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled } from "../support/Fediverse.ts"
import { keyOperations, listener } from "./Listener.ts"
import { sendTo } from "./SentActivity.ts"

it.live(
  "only a collection's owner adds members, and only members can leave: others' ids are ignored",
  () =>
    Effect.gen(function*() {
      const [here] = yield* fediverse(1)
      const there = yield* listener()
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
      // An owner cannot add members alone, and other accounts cannot change the collection.
      yield* send(zoe, { type: "Update", object: collection() })
      assert.deepStrictEqual(yield* items, [])
      const stored = yield* here!
        .sql`SELECT length(name) AS length, description, created_at < '2100-01-01' AS clamped FROM collections`
      assert.deepStrictEqual(stored, [{ length: 256, description: "<p>ok</p>", clamped: true }])
      yield* send(eve, { type: "Update", object: collection({ name: "stolen" }) })
      yield* send(eve, { type: "Update", object: collection({ name: "stolen", attributedTo: eve.id }) })
      assert.lengthOf(yield* here!.sql`SELECT FROM collections WHERE name = 'stolen'`, 0)

      // The account's policy agrees, once.
      const request = (by: typeof zoe, id: string, more: Record<string, unknown> = {}) =>
        send(by, { id, type: "FeatureRequest", object: anna.uri, instrument: uri, ...more })
      yield* request(zoe, `${zoe.id}#r/1`)
      yield* request(zoe, `${zoe.id}#r/1`)
      assert.deepInclude((yield* items)[0], { state: "accepted", username: "anna" })
      assert.lengthOf(yield* items, 1)
      const responses = () =>
        there.received.map(({ activity }) => activity).filter(({ type }) => type === "Accept" || type === "Reject")
      assert.deepInclude(responses()[0], { type: "Accept", object: `${zoe.id}#r/1` })
      // An account cannot add members to another's collection.
      yield* request(eve, `${eve.id}#r/2`)
      assert.lengthOf(yield* items, 1)
      yield* anna.ask("PATCH", "/api/v1/accounts/update_credentials", { discoverable: false })
      yield* request(zoe, `${zoe.id}#r/3`, { instrument: `${zoe.id}/collections/2` })
      assert.deepInclude(responses().at(-1), { type: "Reject", object: `${zoe.id}#r/3` })

      // Responses to a request that was never made, and to another account's request.
      for (const by of [zoe, eve]) {
        yield* send(by, { type: "Accept", object: `${anna.uri}#feature_requests/1`, result: `${by.id}/stamp` })
        yield* send(by, { type: "Delete", object: `${anna.uri}/stamp` })
      }
      assert.lengthOf(yield* items, 1)
      yield* send(eve, { type: "Remove", target: uri, object: `${uri}/1` })
      assert.lengthOf(yield* items, 1)
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)

it.live(
  "an account of a third server is in a collection if its own server confirms its consent to that collection, and in no other",
  () =>
    Effect.gen(function*() {
      const [here] = yield* fediverse(1)
      const [there, third] = [yield* listener(), yield* listener()]
      const zoe = yield* there.actor("zoe")
      const members = yield* Effect.forEach(["right", "wrong", "other", "gone", "slow"], (name) => third.actor(name))
      yield* there.actor("same")
      const uri = `${zoe.id}/collections/1`
      const context = "https://www.w3.org/ns/activitystreams"
      const stamp = (name: string, more: Record<string, unknown> = {}) => {
        const member = `${third.url}/users/${name}`
        return {
          "@context": context,
          id: `${member}/stamp`,
          type: "FeatureAuthorization",
          interactingObject: uri,
          interactionTarget: member,
          ...more
        }
      }
      third.documents.set("/users/right/stamp", stamp("right"))
      third.documents.set("/users/wrong/stamp", stamp("wrong", { interactingObject: `${zoe.id}/collections/2` }))
      third.documents.set("/users/other/stamp", stamp("other", { interactionTarget: `${third.url}/users/right` }))
      let slow = true
      third.documents.set("/users/slow/stamp", (_, response) => {
        response.writeHead(slow ? 503 : 200, { "content-type": "application/activity+json" })
          .end(slow ? "" : JSON.stringify(stamp("slow")))
      })
      const item = (account: string, authorization: string) => ({
        id: `${uri}/${encodeURIComponent(account)}`,
        type: "FeaturedItem",
        featuredObject: account,
        featureAuthorization: authorization
      })
      const same = `${there.url}/users/same`
      const collection = (items: ReadonlyArray<unknown>) => ({
        id: uri,
        type: "FeaturedCollection",
        name: "birds",
        attributedTo: zoe.id,
        orderedItems: items
      })
      const items = [
        ...members.map(({ id }) => item(id, `${id}/stamp`)),
        item(same, `${same}/stamp`),
        // One id for two members, and an unknown account.
        {
          ...item(`${third.url}/users/twin`, `${third.url}/users/twin/stamp`),
          id: `${uri}/${encodeURIComponent(same)}`
        },
        item(`${here!.origin}/users/zoe`, `${here!.origin}/stamp`)
      ]
      let sent = 0
      const send = (by: typeof zoe, activity: Record<string, unknown>) =>
        Effect.andThen(sendTo(here!, by)({ id: `${by.id}#a/${++sent}`, ...activity }), settled([here!]))
      const stored = Effect.orDie(here!.sql<{ readonly state: string; readonly username: string | null }>`
        SELECT i.state, a.username FROM collection_items i LEFT JOIN accounts a ON a.id = i.account_id ORDER BY username`)
      yield* send(zoe, { type: "Update", object: collection(items.slice(0, 6)) })
      const found = yield* eventually(stored, (rows) => rows.length === 3 && rows[1]?.username === "same")
      assert.deepStrictEqual(found, [
        { state: "accepted", username: "right" },
        { state: "accepted", username: "same" },
        { state: "pending", username: null }
      ])
      slow = false
      yield* here!.sql`UPDATE errands SET due_at = now() WHERE kind = 'features'`
      yield* eventually(stored, (rows) => rows[2]?.username === "slow")
      yield* send(zoe, { type: "Update", object: collection(items) })
      // Invalid members are checked again, and stay invalid.
      yield* eventually(stored, ({ length }) => length === 3)

      // Only the member itself can revoke its consent.
      const [right, wrong] = members
      yield* send(wrong!, { type: "Delete", object: `${right!.id}/stamp` })
      assert.lengthOf(yield* stored, 3)
      yield* send(right!, { type: "Delete", object: `${right!.id}/stamp` })
      assert.deepStrictEqual((yield* stored).map(({ username }) => username), ["same", "slow"])
      yield* send(zoe, { type: "Remove", target: uri, object: item(members[4]!.id, "").id })
      assert.deepStrictEqual((yield* stored).map(({ username }) => username), ["same"])
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)
