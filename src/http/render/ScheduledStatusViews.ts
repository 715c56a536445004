import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { type ScheduledRecord, UnpublishedPosts } from "../../services/statuses/UnpublishedPosts.ts"
import { json, type JsonOf } from "../wire/Keys.ts"
import type { ScheduledStatus } from "../wire/ScheduledStatus.ts"
import { scheduledValues } from "./Values.ts"

/** Scheduled posts as serialised JSON. */
export class ScheduledStatusViews extends Context.Service<ScheduledStatusViews, {
  readonly render: (records: ReadonlyArray<ScheduledRecord>) => Effect.Effect<ReadonlyArray<JsonOf<ScheduledStatus>>>
  readonly renderOne: (owner: AccountId, id: bigint) => Effect.Effect<JsonOf<ScheduledStatus>, RecordNotFound>
}>()("murmuration/http/render/ScheduledStatusViews") {
  static readonly layer = Layer.effect(
    ScheduledStatusViews,
    Effect.gen(function*() {
      const config = yield* ServerConfig
      const { scheduled } = yield* UnpublishedPosts
      const text = (record: ScheduledRecord) => json<ScheduledStatus>(scheduledValues(config, record))
      return ScheduledStatusViews.of({
        render: (records) => renderedRows("scheduled status", records, ({ id }) => id, text),
        renderOne: traced("ScheduledStatusViews.renderOne")((owner, id) => Effect.map(scheduled.find(owner, id), text))
      })
    })
  )
}
