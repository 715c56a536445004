import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { peer } from "../../services/federation/Peer.ts"
import { newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { allowedMillis } from "../../support/MachineSpeed.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

/** More than the maximum of concurrent jobs. */
const slowJobs = 70

layer(servers, { excludeTestServices: true })("fetches of posts from other servers", (it) => {
  it.effect("row 30: servers that never respond do not delay others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { documents } = yield* OtherServer
      const silent = yield* peer
      const me = yield* actorOf(yield* newPerson("ada"))
      const [eve, fred] = [yield* there("eve"), yield* there("fred")]
      yield* deliverFrom(fred, { type: "Like", object: "x" })
      for (let n = 0; n < slowJobs; n++) {
        silent.documents.set(`/quoted/${n}`, () => undefined)
        const quote = `${silent.url}/quoted/${n}`
        yield* deliverFrom(eve, { type: "Create", object: note(eve, String(n), { cc: [me], quote }) })
      }
      const begun = sql`SELECT FROM errands WHERE kind = 'quote' AND tries > 0`
      yield* eventually(begun, (rows) => rows.length >= 32)
      const path = new URL(fred.id).pathname
      documents.set(path, { ...documents.get(path), name: "Frederick" })
      const began = performance.now()
      yield* deliverFrom(fred, { type: "Update", object: fred.id })
      const named = sql`SELECT FROM accounts WHERE uri = ${fred.id} AND display_name = 'Frederick'`
      yield* eventually(named, (rows) => rows.length > 0)
      assert.isBelow(performance.now() - began, allowedMillis(12_000))
    }))
})
