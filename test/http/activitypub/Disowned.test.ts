import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { disownedMax } from "../../../src/http/activitypub/Synchronizing.ts"
import { newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { serve } from "./Exchange.ts"
import { actorOf } from "./InboxCalls.ts"
import { deliverFrom, OtherServer, type RemotePerson, servers, signed } from "./Sending.ts"

layer(servers, { excludeTestServices: true })(
  "followers that another server made up",
  (it) => {
    it.effect("row 37: one comparison disowns a bounded number of accounts, whatever the collection's length", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { baseUrl, fetch } = yield* TestServer
        const ada = yield* newPerson("ada")
        const me = yield* actorOf(ada)
        const eve = yield* (yield* OtherServer).actor("eve")
        const mallory = yield* (yield* OtherServer).actor("mallory")
        yield* deliverFrom(eve, { type: "Like", object: "x" })
        yield* deliverFrom(mallory, { type: "Like", object: "x" })
        const count = disownedMax + 50
        yield* sql`INSERT INTO accounts (id, username, created_at, updated_at)
        SELECT next_id(1), 'crowd' || n, now(), now() FROM generate_series(1, ${count}::int) n`
        yield* sql`INSERT INTO actors (account_id) SELECT id FROM accounts WHERE username LIKE 'crowd%'`
        yield* sql`INSERT INTO account_stats (account_id) SELECT id FROM accounts WHERE username LIKE 'crowd%'`
        /** Delivers an activity that names the local followers of its sender. */
        const synchronize = Effect.fnUntraced(function*(by: RemotePerson, orderedItems: ReadonlyArray<string>) {
          const url = `${by.id}/synchronization`
          yield* serve({ id: url, type: "OrderedCollection", orderedItems })
          const text = JSON.stringify({
            "@context": "https://www.w3.org/ns/activitystreams",
            id: `${by.id}/1`,
            type: "Like",
            actor: by.id,
            object: "x"
          })
          const { body, headers } = yield* signed(by, text, new URL(`${baseUrl}/inbox`))
          const synchronization = `collectionId="${by.id}/followers", digest="${"f".repeat(64)}", url="${url}"`
          const request = { ...headers, "collection-synchronization": synchronization }
          assert.strictEqual((yield* fetch("/inbox", { method: "POST", headers: request, body })).status, 202)
        })
        const undone = Effect.map(
          sql<{ count: number }>`SELECT count(*)::int AS count FROM outgoing_activities WHERE type = 'Undo'`,
          ([row]) => row?.count ?? 0
        )
        yield* synchronize(eve, Array.from({ length: count }, (_, n) => `${me.slice(0, -3)}crowd${n + 1}`))
        yield* eventually(undone, (found) => found >= disownedMax)
        // A later comparison has undone a follow, so the earlier one has ended.
        yield* synchronize(mallory, [me])
        yield* eventually(undone, (found) => found > disownedMax)
        assert.strictEqual(yield* undone, disownedMax + 1)
      }))
  }
)
