import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Schema } from "effect"
import { AnnualReports as Reports, AnnualReportState } from "../../../src/http/annual/wire/AnnualReport.ts"
import { campaignOf } from "../../../src/services/annual/AnnualReport.ts"
import { AnnualReports } from "../../../src/services/annual/AnnualReports.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { call, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const path = "/api/v1/annual_reports"
const year = new Date().getUTCFullYear()

/** Runs work with a clock in December of this year. */
const inDecember = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const millis = Date.UTC(year, 11, 20)
    const standing: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillis: Effect.succeed(millis),
      currentTimeMillisUnsafe: () => millis
    })
    return Effect.provideService(work, Clock.Clock, standing)
  })
const reading = (by: Person, at = "") =>
  Effect.flatMap(
    call("GET", `${path}${at}`, by.token),
    ({ body }) => Schema.decodeUnknownEffect(Reports)(body, { onExcessProperty: "error" })
  )

const live = AnnualReports.layer.pipe(Layer.provide(Broadcast.layerMemory), Layer.provideMerge(TestServer.layer()))

layer(live, { excludeTestServices: true })("annual reports", (it) => {
  it.effect("are offered in December, computed by the agenda, kept, and read once", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const reports = yield* AnnualReports
      const [anna, ben, idle] = [yield* createPerson("anna"), yield* createPerson("ben"), yield* createPerson("idle")]
      const first = yield* publish(anna, "Hello #Cats")
      yield* publish(anna, "Again #cats #dogs")
      yield* publish(anna, "#secret", { visibility: "private" })
      const his = yield* publish(ben, "Mine")
      yield* publish(anna, "@ben yes", { in_reply_to_id: his.id })
      yield* call("POST", `/api/v1/statuses/${his.id}/reblog`, anna.token)
      yield* call("POST", `/api/v1/statuses/${first.id}/favourite`, ben.token)
      yield* call("POST", `/api/v1/accounts/${ben.accountId}/follow`, anna.token)

      assert.deepStrictEqual([campaignOf(Date.UTC(2030, 10, 30)), campaignOf(Date.UTC(2030, 11, 1))], [undefined, 2030])
      const state = (by: Person, of: number | string = year) => call("GET", `${path}/${of}/state`, by.token)
      const generate = (by: Person, of: number | string = year) => call("POST", `${path}/${of}/generate`, by.token)
      if (campaignOf(Date.now()) === undefined) {
        assert.deepStrictEqual((yield* state(anna)).body, { state: "ineligible" })
        assert.deepStrictEqual([(yield* generate(anna)).status, (yield* generate(anna)).body], [200, {}])
      }
      assert.strictEqual(yield* inDecember(reports.state(anna.accountId, year)), "eligible")
      assert.strictEqual(yield* inDecember(reports.state(anna.accountId, year - 1)), "ineligible")
      assert.strictEqual(yield* inDecember(reports.state(idle.accountId, year)), "ineligible")
      assert.isTrue(yield* inDecember(reports.request(anna.accountId, year)))
      assert.isFalse(yield* inDecember(reports.request(idle.accountId, year)))
      yield* eventually(state(anna), ({ body }) => body.state === "available")
      yield* Schema.decodeUnknownEffect(AnnualReportState)((yield* state(anna)).body)
      const refresh = Buffer.from(`report:${anna.accountId}`).toString("base64url")
      const { body } = yield* call("GET", `/api/v1_alpha/async_refreshes/${refresh}`, anna.token)
      assert.strictEqual(body.async_refresh.status, "finished")

      const { accounts, annual_reports: [report], statuses } = yield* reading(anna)
      assert.deepInclude(report, { year, account_id: String(anna.accountId) })

      // The key in the address is enough; a wrong key, year or name is 404.
      const { baseUrl, fetch } = yield* TestServer
      const shared = (report!.share_url ?? "").replace(baseUrl, "")
      assert.match(shared, new RegExp(`^/@anna/wrapstodon/${year}/[\\w-]{22}$`))
      const page = (at: string) =>
        Effect.flatMap(fetch(at), (response) =>
          Effect.map(Effect.promise(() => response.text()), (text) => ({ status: response.status, text })))
      const shown = yield* page(shared)
      assert.strictEqual(shown.status, 200)
      for (const word of [`${year} in review: @anna@`, "#Cats</bdi> (2)", "Hello"]) {
        assert.include(shown.text, word)
      }
      assert.notInclude(shown.text, "secret")
      const wrong = [
        shared.slice(0, -1),
        `${shared}A`,
        shared.replace(String(year), String(year - 1)),
        shared.replace("anna", "ben")
      ]
      for (const at of wrong) {
        assert.strictEqual((yield* page(at)).status, 404, at)
      }

      const { body: told } = yield* call("GET", "/api/v1/notifications?types[]=annual_report", anna.token)
      assert.lengthOf(told, 1)
      assert.deepInclude(told[0], { type: "annual_report", annual_report: { year: String(year) } })
      assert.strictEqual(told[0].account.id, String(anna.accountId))
      const { body: grouped } = yield* call("GET", "/api/v2/notifications?types[]=annual_report", anna.token)
      assert.deepStrictEqual(grouped.notification_groups[0].annual_report, { year: String(year) })
      assert.deepInclude(report!.data, {
        archetype: "lurker",
        type_distribution: { total: 5, reblogs: 1, replies: 1, standalone: 3 },
        top_statuses: { by_reblogs: null, by_favourites: first.id, by_replies: null },
        most_reblogged_accounts: [{ account_id: String(ben.accountId), count: 1 }],
        commonly_interacted_with_accounts: [{ account_id: String(ben.accountId), count: 1 }]
      })
      assert.deepStrictEqual(
        report!.data.top_hashtags.map(({ count }) =>
          count
        ),
        [2, 1]
      )
      assert.deepStrictEqual(
        report!.data.time_series.map(({ month }) => month),
        Array.from({ length: 12 }, (_, n) => n + 1)
      )
      assert.deepInclude(report!.data.time_series[new Date().getUTCMonth()], {
        statuses: 5,
        following: 1,
        followers: 0
      })
      assert.sameMembers(accounts.map((one) => one.id), [anna, ben].map(({ accountId }) => String(accountId)))
      assert.deepStrictEqual(statuses.map((one) => one.id), [first.id])

      // Local users get a report automatically, each only their own.
      yield* inDecember(Effect.andThen(reports.prepare, reports.sweep))
      assert.lengthOf((yield* reading(ben)).annual_reports, 1)
      assert.lengthOf((yield* reading(idle)).annual_reports, 0)
      for (const none of [`/${year - 1}`, "/99", "/x"]) {
        assert.strictEqual((yield* call("GET", path + none, anna.token)).status, 404)
        assert.strictEqual((yield* call("POST", `${path}${none}/read`, anna.token)).status, 404)
      }
      assert.deepStrictEqual((yield* call("POST", `${path}/${year}/read`, anna.token)).body, {})
      assert.lengthOf((yield* reading(anna)).annual_reports, 0)
      assert.lengthOf((yield* reading(anna, `/${year}`)).annual_reports, 1)
      assert.strictEqual((yield* call("GET", "/api/v1/donation_campaigns", anna.token)).status, 204)
    }))
})
