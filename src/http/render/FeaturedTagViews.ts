import { Context, Effect, Layer } from "effect"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { type FeaturedTag as FeaturedTagRecord, FeaturedTags } from "../../services/statuses/FeaturedTags.ts"
import { day, id } from "../wire/Common.ts"
import { json, type JsonOf } from "../wire/Keys.ts"
import type { FeaturedTag } from "../wire/Tag.ts"

/** Featured hashtags as serialised JSON. */
export class FeaturedTagViews extends Context.Service<FeaturedTagViews, {
  /** Returns an account's featured hashtags that pass `isIncluded`, the most used first. */
  readonly of: (
    accountId: bigint,
    isIncluded?: (tag: FeaturedTagRecord) => boolean
  ) => Effect.Effect<ReadonlyArray<JsonOf<FeaturedTag>>>
}>()("murmuration/http/render/FeaturedTagViews") {
  static readonly layer = Layer.effect(
    FeaturedTagViews,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const config = yield* ServerConfig
      const featured = yield* FeaturedTags
      return FeaturedTagViews.of({
        of: traced("FeaturedTagViews.of")(
          function*(accountId: bigint, isIncluded: (tag: FeaturedTagRecord) => boolean = () => true) {
            const tags = (yield* featured.of(accountId)).filter(isIncluded)
            if (tags.length === 0) return []
            const record = (yield* accounts.load([accountId])).find((account) => account.id === accountId)
            const page = record?.domain === null
              ? (name: string) => Urls.taggedProfile(config, record.username, name)
              : (name: string) => Urls.tag(config, name)
            return yield* renderedRows("featured hashtag", tags, (tag) => tag.id, (tag) =>
              json<FeaturedTag>({
                id: id(tag.id),
                name: tag.name,
                url: page(tag.name),
                statusesCount: String(tag.statusesCount),
                lastStatusAt: tag.lastStatusAt === null ? null : day(tag.lastStatusAt)
              }))
          }
        )
      })
    })
  )
}
