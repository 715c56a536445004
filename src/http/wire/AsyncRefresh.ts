import { Schema } from "effect"

export const AsyncRefresh = Schema.Struct({
  id: Schema.String,
  status: Schema.Literals(["running", "finished"]),
  result_count: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "AsyncRefresh" })
export type AsyncRefresh = typeof AsyncRefresh.Type

/** `GET /api/v1_alpha/async_refreshes/:id` */
export const AsyncRefreshState = Schema.Struct({ async_refresh: AsyncRefresh })
export type AsyncRefreshState = typeof AsyncRefreshState.Type
