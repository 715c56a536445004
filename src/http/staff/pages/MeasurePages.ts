import { Clock, Effect, Layer } from "effect"
import { Cohorts } from "../../../services/metrics/Cohorts.ts"
import { Dimensions } from "../../../services/metrics/Dimensions.ts"
import { Measures } from "../../../services/metrics/Measures.ts"
import { type Period, periodOf } from "../../../services/metrics/Period.ts"
import { RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { TagWriter } from "../../../services/statuses/TagWriter.ts"
import { html } from "../../html/Html.ts"
import { measureNames } from "./parts/MeasureNames.ts"
import { barChart } from "./parts/Plots.ts"
import { emptyList, filters, filterSelect, table } from "./parts/Tables.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

const dayMillis = 86_400_000
const spans = [7, 30, 90, 365] as const
/** Maximum values shown per dimension. */
const valuesMax = 10

const general = ["active_users", "new_users", "interactions", "opened_reports", "resolved_reports"] as const
const ofTag = ["tag_accounts", "tag_uses", "tag_servers"] as const

const make = Effect.gen(function*() {
  const cohorts = yield* Cohorts
  const dimensions = yield* Dimensions
  const measures = yield* Measures
  const staff = yield* StaffPages
  const tags = yield* TagWriter

  const periodIn = Effect.fnUntraced(function*({ query }: Visit) {
    const days = spans.find((span) => String(span) === query.get("days")) ?? 30
    const now = yield* Clock.currentTimeMillis
    return periodOf(new Date(now - (days - 1) * dayMillis), new Date(now)) ??
      (yield* validationFailed("End at must be after its beginning"))
  })

  const split = Effect.fnUntraced(
    function*({ words: { say }, words }: Visit, key: string, period: Period, tagId?: bigint) {
      const values = yield* dimensions.of(key, period, valuesMax, { tagId })
      return values === undefined ? "" : section(
        measureNames(words, key),
        values.length === 0 ? emptyList(say("No data.")) : table(
          [say("Item"), say("Count")],
          values.map(({ humanKey, humanValue, value }) => [humanKey, humanValue ?? value]),
          measureNames(words, key)
        )
      )
    }
  )

  const retention = Effect.fnUntraced(function*({ words: { figure, month, say } }: Visit, period: Period) {
    const found = yield* cohorts.of(period, "month")
    return found.length === 0 ? "" : section(
      say("Retention"),
      table(
        [say("Month of sign-up"), say("People"), say("Active at the end")],
        found.map(({ data, period: start }) => {
          const [first, last] = [data[0], data.at(-1)]
          return [month(start), figure(first?.value ?? 0), `${figure(Math.round((last?.rate ?? 0) * 100))} %`]
        }),
        say("Retention")
      )
    )
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { query, words: { say }, words } = visit
    const period = yield* periodIn(visit)
    const asked = query.get("tag")
    const tagId = idOf(asked)
    const [tag] = tagId === undefined ? [] : yield* tags.load([tagId])
    if (asked !== null && asked !== "" && tag === undefined) return yield* new RecordNotFound()
    const keys: ReadonlyArray<string> = tag === undefined ? general : ofTag
    const found = yield* Effect.forEach(keys, (key) => measures.of(key, period, { tagId: tag?.id }))
    const splits = tag === undefined
      ? ["languages", "sources", "servers", "space_usage", "software_versions"]
      : ["tag_servers", "tag_languages"]
    return {
      title: tag === undefined ? say("Statistics") : say("Statistics of {name}", { name: `#${tag.displayName}` }),
      body: html`${
        filters(
          visit,
          html`<input type="hidden" name="tag" value="${asked ?? ""}">${
            filterSelect(visit, "days", say("Time"), [
              ["", say("Last month")],
              ["7", say("Last week")],
              ["90", say("Last three months")],
              ["365", say("Last year")]
            ])
          }`
        )
      }<div class="columns">${
        found.flatMap((measure) =>
          measure === undefined ? [] : [html`<section class="card">${
            barChart(words, {
              title: measureNames(words, measure.key),
              points: measure.data.map(({ date, value }) => [words.day(date), Number(value)] as const)
            })
          }</section>`]
        )
      }</div><div class="columns">${yield* Effect.forEach(splits, (key) => split(visit, key, period, tag?.id))}</div>${
        tag === undefined ? yield* retention(visit, period) : ""
      }`
    }
  })

  return staff.page({ path: "/admin/measures", permission: "viewDashboard", show })
})

/** Daily figures of the server, with breakdowns. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([Cohorts.layer, Dimensions.layer, Measures.layer, TagWriter.layer])
)
