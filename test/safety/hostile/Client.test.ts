import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { call, get, post } from "../Calls.ts"
import { pathOf, routes } from "../Routes.ts"
import { diceOf, runsOr, seed, timeoutMillis } from "./Generate.ts"
import { assertNoServerError, assertServed, withPauses } from "./Pages.ts"
import { describeRequest, hostileRequest, send } from "./Tries.ts"

layer(TestServer.layer(), { excludeTestServices: true })("a hostile client", (it) => {
  it.effect(
    "F10 F13 F20: no request to any route breaks the server, and other users' data stays available",
    ({ annotate }) =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const [eve, ada] = [yield* createPerson("eve"), yield* createPerson("ada")]
        yield* post(`/api/v1/accounts/${eve.accountId}/follow`, ada)
        const id = yield* publishedId(eve, "@ada hello #tag")
        const poll = yield* post("/api/v1/statuses", ada, {
          status: "?",
          poll: { options: ["a", "b"], expires_in: 3600 }
        })
        const asked = yield* post("/api/v1/statuses", eve, {
          status: "ask",
          interaction_policy: {
            can_reply: { manual_approval: ["public"] },
            can_quote: { manual_approval: ["public"] }
          }
        })
        yield* post("/api/v1/statuses", ada, { status: "may I", in_reply_to_id: asked.body.id })
        const quote = yield* post("/api/v1/statuses", ada, { status: "look", quoted_status_id: asked.body.id })
        const requests = yield* get("/api/v1/interaction_requests", eve)
        const draft = yield* post("/api/v1/drafts", eve, { status: "later" })
        const collection = yield* post("/api/v1/collections", eve, { name: "friends" })
        const ids = [
          id,
          asked.body.id,
          quote.body.id,
          requests.body[0].id,
          draft.body.id,
          collection.body.collection.id,
          "👍",
          ":blobcat@other.example:",
          String(eve.accountId),
          String(ada.accountId),
          String(poll.body.id),
          String(poll.body.poll.id),
          "eve",
          "tag",
          "9223372036854775807",
          "9223372036854775808",
          "0",
          "-1"
        ]
        const statuses: Record<number, number> = {}
        for (let run = 0; run < runsOr(80); run++) {
          const one = hostileRequest(diceOf(run), ids)
          const about = `HOSTILE_SEED=${seed} run ${run}: ${describeRequest(one)}`
          const response = yield* send(one, eve)
          statuses[response.status] = (statuses[response.status] ?? 0) + 1
          assertNoServerError(response, about)
          yield* assertServed(ada, about)
        }
        annotate(`responses by status: ${JSON.stringify(statuses)}`)
        // Eve still has an account; otherwise the requests tested nothing.
        assert.strictEqual((yield* get("/api/v1/accounts/verify_credentials", eve)).status, 200)
        assert.isAbove(statuses[200] ?? 0, 0)
        const [row] = yield* sql<{ bytes: number }>`SELECT max(octet_length(html))::int AS bytes FROM statuses`
        assert.isAtMost(row?.bytes ?? 0, 65_536)
      }).pipe((work) => withPauses(work, annotate)),
    timeoutMillis
  )

  it.effect("F62: a path with text that no column can store is not found, on every route", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("nul", ["administrator"])
      for (const route of routes.filter(({ path }) => path.includes(":"))) {
        for (const value of ["\u0000", "2026-01-01\u0000", "\u{10ffff}"]) {
          const path = pathOf(route, value)
          const response = yield* call(route.method, path, staff, route.method === "GET" ? undefined : {})
          assertNoServerError(response, `${route.method} ${path}`)
          assert.notStrictEqual(response.status, 503, `${route.method} ${path}: ${response.text}`)
        }
      }
    }))
})
