import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Tags } from "../../../services/statuses/Tags.ts"
import { TagWriter } from "../../../services/statuses/TagWriter.ts"
import { tagValues } from "../../render/Values.ts"
import { json, type JsonOf } from "../../wire/Keys.ts"
import type { AdminTag } from "../wire/AdminTrend.ts"

/** Hashtags for staff as serialised JSON; three queries per list. */
export class AdminTagViews extends Context.Service<AdminTagViews, {
  /** Returns hashtags in the order of `ids`. */
  readonly render: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<JsonOf<AdminTag>>>
}>()("murmuration/http/staff/render/AdminTagViews") {
  static readonly layer = Layer.effect(
    AdminTagViews,
    Effect.gen(function*() {
      const config = yield* ServerConfig
      const tags = yield* Tags
      const writer = yield* TagWriter
      return AdminTagViews.of({
        render: traced("AdminTagViews.render")(function*(ids: ReadonlyArray<bigint>) {
          const reviewed = new Map((yield* writer.load(ids)).map((tag) => [tag.id, tag]))
          return (yield* tags.load(ids)).flatMap((record) => {
            const tag = record.id === undefined ? undefined : reviewed.get(record.id)
            if (tag === undefined) return []
            return [json<AdminTag>({
              ...tagValues(config, record),
              listable: tag.listable,
              usable: tag.usable,
              trendable: tag.trendable ?? config.trendsReview === "off",
              requiresReview: tag.reviewedAt === null
            })]
          })
        })
      })
    })
  ).pipe(Layer.provide(TagWriter.layer))
}
