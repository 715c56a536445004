import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { respond } from "./Exchange.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { deliverFrom, note, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("local ids", (it) => {
  it.effect("row 1: are never accepted from other servers, wherever a redirect leads", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ada, eve] = [yield* newPerson("ada"), yield* there("eve")]
      const me = yield* actorOf(ada)
      const post = yield* json(ada, "/api/v1/statuses", { status: "mine" })
      const ways = yield* Effect.forEach([`${new URL(me).origin}/actor`, me, post.uri, `${me}/followers`], (ours, n) =>
        respond(`/ways/${n}`, (_, response) => response.writeHead(302, { location: ours }).end()))
      for (const way of ways) {
        yield* json(ada, `/api/v2/search?resolve=true&q=${encodeURIComponent(way)}`)
        yield* deliverFrom(eve, { type: "Announce", object: way })
      }
      const tag = ways.map((href) => ({ type: "Mention", href }))
      yield* deliverFrom(eve, { type: "Create", object: note(eve, "mentions", { cc: [me], tag, quote: ways[1] }) })
      yield* eventually(sql`SELECT FROM errands WHERE tries = 0`, (rows) =>
        rows.length === 0)
      yield* Effect.sleep("2 seconds")
      assert.deepStrictEqual(
        yield* sql`SELECT uri FROM accounts WHERE uri LIKE ${`${new URL(me).origin}/%`}
          UNION ALL SELECT uri FROM statuses WHERE NOT local AND uri LIKE ${`${new URL(me).origin}/%`}`,
        []
      )
    }))
})
