import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { activityBytesMax } from "../../../src/http/activitypub/Inboxes.ts"
import { inboundBackoff } from "../../../src/services/federation/inbox/InboundActivities.ts"
import { there } from "../../http/activitypub/InboxCalls.ts"
import { OtherServer, sendBody, servers, settled } from "../../http/activitypub/Sending.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { newPerson, publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { get, post } from "../Calls.ts"
import { activityOf, actorOf, type Known } from "./Documents.ts"
import { diceOf, runsOr, seed, timeoutMillis } from "./Generate.ts"
import { assertServed, withPauses } from "./Pages.ts"

/** Maximum bytes of a stored post and of an account in the database; they also bound the HTML for clients. */
const bounds = { status: 65_536, account: 16_384 }

const largest = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql<{ status: number; account: number; late: number }>`SELECT
      (SELECT coalesce(max(octet_length(html) + octet_length(spoiler_text)), 0) FROM statuses)::int AS status,
      (SELECT max(octet_length(display_name) + octet_length(note_html) + (SELECT
          coalesce(sum(octet_length(f ->> 'name') + octet_length(f ->> 'value') + octet_length(f ->> 'html')), 0)
          FROM jsonb_array_elements(fields) f)) FROM accounts)::int AS account,
      ((SELECT count(*) FROM statuses WHERE NOT created_at BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999Z')
        + (SELECT count(*) FROM polls WHERE NOT expires_at BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999Z')
        + (SELECT count(*) FROM accounts WHERE NOT created_at BETWEEN '1970-01-01' AND '9999-12-31 23:59:59.999Z'))::int AS late`
)

layer(servers, { excludeTestServices: true })("a hostile server", (it) => {
  it.effect(
    "F10 F13: no sequence of its activities breaks the server, and other users' data stays available",
    ({ annotate }) =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const { documents } = yield* OtherServer
        const sql = yield* SqlClient.SqlClient
        const ada = yield* newPerson("ada")
        const peers = [yield* there("eve"), yield* there("mallory")]
        const me = `${baseUrl}/users/ada`
        const id = yield* publishedId(ada, "hello #tag")
        const { body: poll } = yield* post("/api/v1/statuses", ada, {
          status: "?",
          poll: { options: ["a", "b"], expires_in: 3600 }
        })
        const plain = peers.map((one) => documents.get(new URL(one.id).pathname) as Json)
        for (const peer of peers) {
          yield* sendBody(
            peer,
            JSON.stringify({
              "@context": "https://www.w3.org/ns/activitystreams",
              id: `${peer.id}/f`,
              type: "Follow",
              actor: peer.id,
              object: me
            })
          )
          yield* settled
          const { body } = yield* get(`/api/v2/search?resolve=true&q=${encodeURIComponent(peer.id)}`, ada)
          yield* post(`/api/v1/accounts/${body.accounts[0].id}/follow`, ada)
        }
        const statuses: Record<number, number> = {}
        for (let run = 0; run < runsOr(120); run++) {
          const dice = diceOf(run)
          const at = dice.between(0, peers.length)
          const by = peers[at]!
          const known: Known = {
            self: by.id,
            others: peers.map((one) => one.id),
            people: [me],
            posts: [id, poll.id].map((one) => `${me}/statuses/${one}`).concat(peers.map((one) => `${one.id}/notes/1`))
          }
          // Fetched documents are as hostile as activities.
          documents.set(new URL(by.id).pathname, dice.chance(0.5) ? plain[at]! : actorOf(dice, plain[at]!))
          // Oversized bodies are not read: the excess does not matter.
          const text = JSON.stringify(activityOf(dice, known, plain[at]!)).slice(0, activityBytesMax + 1_000)
          const about = `HOSTILE_SEED=${seed} run ${run}: ${text.slice(0, 1_500)}`
          const status = yield* sendBody(by, text, dice.pick(["/inbox", "/users/ada/inbox"]))
          statuses[status] = (statuses[status] ?? 0) + 1
          assert.isBelow(status, 500, about)
          yield* settled
          yield* assertServed(ada, about)
          const [row] = yield* largest
          assert.isAtMost(row?.status ?? 0, bounds.status, about)
          assert.isAtMost(row?.account ?? 0, bounds.account, about)
          assert.strictEqual(row?.late, 0, about)
        }
        annotate(`responses by status: ${JSON.stringify(statuses)}`)
        const outcomes = yield* sql<{ outcome: string; count: number }>`SELECT split_part(outcome, ':', 1) AS outcome,
          count(*)::int AS count FROM inbound_activities WHERE outcome IS NOT NULL GROUP BY 1 ORDER BY 1`
        annotate(`outcomes: ${JSON.stringify(outcomes)}`)
        // Some activities must have effects, or the test shows nothing.
        assert.isAbove(outcomes.find(({ outcome }) => outcome === "done")?.count ?? 0, 5)
        // Makes the pending retries the last ones: none may fail because of our own errors.
        yield* sql`UPDATE inbound_activities SET tries = ${
          inboundBackoff.triesMax - 1
        }, due_at = '2026-01-01' WHERE outcome IS NULL`
        for (const peer of peers) {
          yield* sendBody(
            peer,
            JSON.stringify({
              "@context": "https://www.w3.org/ns/activitystreams",
              id: `${peer.id}/last`,
              type: "Like",
              actor: peer.id,
              object: "x"
            })
          )
        }
        yield* settled
        assert.deepStrictEqual(
          yield* sql`SELECT outcome, left(document, 1500) AS document FROM inbound_activities WHERE outcome LIKE 'set aside:%'`,
          []
        )
      }).pipe((work) => withPauses(work, annotate)),
    timeoutMillis
  )
})
