import { Clock, Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Cohorts } from "../../../services/metrics/Cohorts.ts"
import { Dimensions } from "../../../services/metrics/Dimensions.ts"
import { type Measure, Measures } from "../../../services/metrics/Measures.ts"
import { dayMillis, periodOf } from "../../../services/metrics/Period.ts"
import { formatBytes } from "../../../services/metrics/Sizes.ts"
import { missingParameter, validationFailed } from "../../../services/runtime/Errors.ts"
import { momentMillisMax } from "../../../services/runtime/Moments.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import {
  AdminCohort,
  AdminDimension,
  AdminMeasure,
  MetricsQuery,
  RetentionQuery,
  subjectOf
} from "../wire/MetricsJson.ts"

/** Maximum keys in a request; default and maximum values of a dimension. */
const keysMax = 20
const valuesDefault = 10
const valuesMax = 100

const access = Access.staff("viewDashboard", "admin:read")

export class AdminMetricsGroup extends HttpApiGroup.make("admin/metrics")
  .add(
    HttpApiEndpoint.post("measures", "/api/v1/admin/measures", {
      payload: MetricsQuery,
      success: Schema.Array(AdminMeasure)
    }).annotate(Access, access),
    HttpApiEndpoint.post("dimensions", "/api/v1/admin/dimensions", {
      payload: MetricsQuery,
      success: Schema.Array(AdminDimension)
    }).annotate(Access, access),
    HttpApiEndpoint.post("retention", "/api/v1/admin/retention", {
      payload: RetentionQuery,
      success: Schema.Array(AdminCohort)
    }).annotate(Access, access)
  )
  .middleware(Guard)
{}

const isBlank = (text: string | null | undefined): text is null | undefined | "" => (text ?? "").trim() === ""

const dateOf = Effect.fnUntraced(function*(name: string, text: string | null | undefined) {
  if (isBlank(text)) return yield* missingParameter(name)
  const date = new Date(text.trim())
  const millis = date.getTime()
  return millis >= 0 && millis <= momentMillisMax
    ? date
    : yield* validationFailed(`${name === "start_at" ? "Start at" : "End at"} is invalid`)
})

const periodIn = Effect.fnUntraced(function*({ endAt, startAt }: typeof RetentionQuery.Type) {
  const start = yield* dateOf("start_at", startAt)
  const end = yield* dateOf("end_at", endAt)
  return periodOf(start, end) ?? (yield* validationFailed("End at must be after its beginning"))
})

/** Length of a period without a start, in days, including the last day. */
const periodDaysDefault = 30

/** Returns the period of a request; its defaults are up to now and 30 days. */
const openPeriodIn = Effect.fnUntraced(function*({ endAt, startAt }: typeof RetentionQuery.Type) {
  const end = isBlank(endAt) ? new Date(yield* Clock.currentTimeMillis) : yield* dateOf("end_at", endAt)
  const start = isBlank(startAt)
    ? new Date(Math.max(0, end.getTime() - (periodDaysDefault - 1) * dayMillis))
    : yield* dateOf("start_at", startAt)
  return periodOf(start, end) ?? (yield* validationFailed("End at must be after its beginning"))
})

const keysIn = ({ keys = [] }: MetricsQuery) =>
  keys.length === 0 ? missingParameter("keys") : Effect.succeed([...new Set(keys)].slice(0, keysMax))

const shownMeasure = ({ data, key, previousTotal, total, unit }: Measure) =>
  json<AdminMeasure>({
    key,
    unit,
    total: String(total),
    ...(unit === "bytes" && { humanValue: formatBytes(total) }),
    ...(previousTotal !== undefined && { previousTotal: String(previousTotal) }),
    data: data.map(({ date, value }) => ({ date: timestamp(date), value: String(value) }))
  })

/** Activity metrics for staff. */
export const layer = group(
  AdminMetricsGroup,
  Effect.fn(function*(handlers) {
    const cohorts = yield* Cohorts
    const dimensions = yield* Dimensions
    const measures = yield* Measures
    return handlers.handleAll({
      measures: traced("admin.metrics.measures")(function*({ payload }) {
        const keys = yield* keysIn(payload)
        const period = yield* periodIn(payload)
        const found = yield* Effect.forEach(keys, (key) => measures.of(key, period, subjectOf(payload, key)))
        return Reply.list(found.flatMap((measure) => measure === undefined ? [] : [shownMeasure(measure)]))
      }),
      dimensions: traced("admin.metrics.dimensions")(function*({ payload }) {
        const keys = yield* keysIn(payload)
        const period = yield* openPeriodIn(payload)
        const limit = Math.min(Math.max(1, payload.limit ?? valuesDefault), valuesMax)
        const found = yield* Effect.forEach(
          keys,
          (key) =>
            Effect.map(
              dimensions.of(key, period, limit, subjectOf(payload, key)),
              (data) => data === undefined ? [] : [json<AdminDimension>({ key, data })]
            )
        )
        return Reply.list(found.flat())
      }),
      retention: traced("admin.metrics.retention")(function*({ payload }) {
        const period = yield* periodIn(payload)
        const found = yield* cohorts.of(period, payload.frequency === "month" ? "month" : "day")
        return Reply.list(found.map(({ data, frequency, period: start }) =>
          json<AdminCohort>({
            period: timestamp(start),
            frequency,
            data: data.map(({ date, rate, value }) => ({ date: timestamp(date), rate, value: String(value) }))
          })
        ))
      })
    })
  })
).pipe(Layer.provide([Cohorts.layer, Dimensions.layer, Measures.layer]))
