import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { missingKey } from "../../../src/http/render/StatusBodies.ts"
import { ViewerStates } from "../../../src/services/statuses/ViewerStates.ts"
import { person } from "../../support/People.ts"
import { Reads } from "../../support/Reads.ts"

layer(Reads)("the state of a status for its viewers", (it) => {
  it.effect("F127: a pending favourite counts for its account in streams as in requests, also of a boost", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const states = yield* ViewerStates
      const [author, fan, other] = [yield* person("author"), yield* person("fan"), yield* person("other")]
      const at = new Date(0)
      for (const [id, of] of [[11, null], [12, 11]]) {
        yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, reblog_of_id, created_at)
          VALUES (${id}, ${author}, 'public', 11, ${of}, ${at})`
      }
      yield* sql`INSERT INTO interaction_requests (id, kind, account_id, target_account_id, status_id, state, created_at)
        VALUES (1, 'favourite', ${fan}, ${author}, 11, 'pending', ${at}),
          (2, 'reblog', ${other}, ${author}, 11, 'pending', ${at})`
      const status = {
        ...missingKey(11n),
        accountId: author,
        visibility: "public" as const,
        control: ["canLike", "canLike:manual:public"]
      }
      const boost = { ...missingKey(12n), accountId: author, visibility: "public" as const, original: status }
      for (const key of [status, boost]) {
        const streamed = yield* states.forViewers([fan, other], key)
        const requested = yield* states.of(fan, [key.original ?? key], "authors")
        assert.strictEqual(requested.get(11n)?.favourited, true)
        assert.deepStrictEqual(
          [fan, other].map((one) => streamed.get(one)?.favourited),
          [true, false]
        )
      }
    }))
})
