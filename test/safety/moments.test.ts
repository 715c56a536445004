import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { momentMillisMax } from "../../src/services/runtime/Moments.ts"
import { publishedId } from "../support/Api.ts"
import { eventually } from "../support/Eventually.ts"
import { hasPage } from "../support/Requests.ts"
import { TestServer } from "../support/Server.ts"
import { staffMember } from "../support/Staff.ts"
import { call, get, idsAt, post } from "./Calls.ts"

const day = 86_400_000

type Verdict = "planned" | "past" | "refused"

/** Times that a client may send: past ones mean now (operations.md, "Scheduled moments"). */
const moments: ReadonlyArray<readonly [moment: () => string, Verdict]> = [
  [() => new Date(Date.now() + day).toISOString(), "planned"],
  [() => new Date(Date.now() + day).toISOString().replace("Z", "+00:00"), "planned"],
  [() => "9999-12-31T23:59:59.999Z", "planned"],
  [() => new Date(Date.now() + 60_000).toISOString(), "refused"],
  [() => "+010000-01-01T00:00:00.000Z", "planned"],
  [() => "+275760-09-13T00:00:00.000Z", "planned"],
  [() => new Date(Date.now() - 1000).toISOString(), "past"],
  [() => new Date(Date.now() - day).toISOString(), "past"],
  [() => "1969-12-31T23:59:59Z", "past"],
  [() => "0001-01-01T00:00:00Z", "past"],
  [() => "-271821-04-20T00:00:00.000Z", "past"],
  [() => "2026-13-45T99:99:99Z", "refused"],
  [() => "tomorrow", "refused"],
  [() => "99999999999999999999", "refused"],
  [() => "NaN", "refused"],
  [() => "1e400", "refused"],
  [() => "\u0661\u0662", "refused"]
]

layer(TestServer.layer(), { excludeTestServices: true })("row 81", (it) => {
  it.effect("F10: a future time is scheduled, before the year 10000, a past one means now, and an impossible one is refused with a message", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const { body: planned } = yield* post("/api/v1/statuses", ada, {
        status: "later",
        scheduled_at: new Date(Date.now() + 3 * day).toISOString()
      })
      const published: Array<string> = []
      for (const [moment, verdict] of moments) {
        const scheduled_at = moment()
        const created = yield* post("/api/v1/statuses", ada, { status: "when?", scheduled_at })
        const moved = yield* call("PUT", `/api/v1/scheduled_statuses/${planned.id}`, ada, { scheduled_at })
        const about = `${scheduled_at}: ${created.text} ${moved.text}`
        assert.strictEqual(created.status, verdict === "refused" ? 422 : 200, about)
        assert.strictEqual(moved.status, verdict === "planned" ? 200 : 422, about)
        const responses = verdict === "planned" ? [created.body, moved.body] : []
        for (const body of responses) {
          assert.strictEqual(Date.parse(body.scheduled_at), Math.min(Date.parse(scheduled_at), momentMillisMax), about)
        }
        const refusals = [created, moved].filter(({ status }) => status === 422)
        for (const { body } of refusals) assert.match(body.error, /\w+ \w+/, about)
        if (verdict === "past") {
          assert.include(created.body.content, "when?")
          assert.approximately(Date.parse(created.body.created_at), Date.now(), 180_000)
          published.unshift(created.body.id)
        }
      }
      assert.deepStrictEqual(yield* idsAt(`/api/v1/accounts/${ada.accountId}/statuses`), published)
      const { body: waiting } = yield* get("/api/v1/scheduled_statuses", ada)
      assert.lengthOf(waiting, 1 + moments.filter(([, verdict]) => verdict === "planned").length)
    }))

  it.effect("F10: nothing has happened since a time that is later than every id", () =>
    Effect.gen(function*() {
      const reader = yield* staffMember("mona", ["viewDashboard"])
      for (const moment of ["6429-10-17", "6500-01-01", "9999-12-31", "+010000-01-01T00:00:00.000Z"]) {
        const { body, status } = yield* get(`/api/v1/timelines/catchup?since=${encodeURIComponent(moment)}`, reader)
        assert.deepStrictEqual([status, body], [200, []], moment)
      }
      const keys = ["new_users", "tag_uses", "instance_statuses", "opened_reports", "languages"]
      for (const [start_at, end_at] of [["2026-11-01", "9999-12-31"], ["6429-10-01", "6429-11-01"]]) {
        const about = { keys, start_at, end_at, tag_uses: { id: "1" }, instance_statuses: { domain: "other.example" } }
        for (const  of of["measures", "dimensions", "retention"]) {
          const { status, text } = yield* post(`/api/v1/admin/${of}`, reader, about)
          assert.strictEqual(status, 200, `${of} up to ${end_at}: ${text}`)
        }
      }
    }))

  it.effect("durations up to the end of time and beyond are stored or refused, without internal errors", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [bob, carol] = [yield* createPerson("bob"), yield* createPerson("carol")]
      for (const duration of [-1, 0, 1e9, 1e12, 1e15, 2 ** 53 - 1, "1e30", "abc"]) {
        const { body, status } = yield* post(`/api/v1/accounts/${carol.accountId}/mute`, bob, { duration })
        assert.oneOf(status, [200, 422], String(duration))
        if (status === 200) assert.isTrue(body.muting, String(duration))
      }
      assert.strictEqual((yield* get("/api/v1/mutes", bob)).status, 200)
      assert.strictEqual((yield* get("/api/v1/scheduled_statuses", bob)).status, 200)
    }))

  it.effect("ids come from the server's clock, and paging works from both ends of the number range", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const dora = yield* createPerson("dora")
      const before = Date.now()
      const ids = [
        yield* publishedId(dora, "one"),
        yield* publishedId(dora, "two", { created_at: "2099-01-01T00:00:00Z" })
      ]
      const [row] = yield* sql<{ late: number }>`SELECT count(*)::int AS late FROM statuses
        WHERE account_id = ${BigInt(dora.accountId)}
        AND (created_at > ${new Date(Date.now() + 1000)} OR created_at < ${new Date(before - 1000)})`
      assert.strictEqual(row?.late, 0)
      for (const id of ids) assert.approximately(Number(BigInt(id) >> 16n), Date.now(), 180_000)
      const ends = ["0", "-1", "1", "9223372036854775807", "9223372036854775808", "9".repeat(40), "x", ""]
      const paths = [
        "/api/v1/timelines/public",
        "/api/v1/timelines/home",
        "/api/v1/notifications",
        "/api/v1/favourites"
      ]
      for (const path of paths) {
        for (const cursor of ["max_id", "since_id", "min_id"]) {
          for (const end of ends) {
            const { status } = yield* get(`${path}?${cursor}=${end}&limit=2`, dora)
            assert.isTrue(hasPage(status), `${path} ${cursor}=${end}: ${status}`)
          }
        }
        for (const limit of ["0", "-5", "1e9", "99999999999999999999", "x", ""]) {
          assert.isTrue(hasPage((yield* get(`${path}?limit=${limit}`, dora)).status), `${path} limit=${limit}`)
        }
      }
    }))

  it.effect("F32: ids keep all of their digits, also as numbers in JSON", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [eva, fred] = [yield* createPerson("eva"), yield* createPerson("fred")]
      const root = yield* publishedId(eva, "root")
      // Above 2^53 and odd: rounding changes the last digit first.
      assert.isAbove(Number(root), Number.MAX_SAFE_INTEGER)
      const planned = yield* call("POST", "/api/v1/statuses", fred, undefined, {
        headers: { "content-type": "application/json" },
        body: `{"status":"later","in_reply_to_id":${root},"scheduled_at":"2099-01-01T00:00:00Z"}`
      })
      assert.include(planned.text, `"in_reply_to_id":${root},`)
      yield* post(`/api/v1/statuses/${root}/favourite`, fred)
      yield* eventually(get("/api/v1/notifications", eva), ({ body }) => body.length === 1)
      const [{ id }] = (yield* get("/api/v1/notifications", eva)).body
      assert.include((yield* get("/api/v2/notifications", eva)).text, `"most_recent_notification_id":${id},`)
      assert.include((yield* get("/oauth/token/info", eva)).text, `"resource_owner_id":${eva.accountId},`)
    }))
})
