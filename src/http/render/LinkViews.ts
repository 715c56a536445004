import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { LinkRecords } from "../../services/trends/LinkRecords.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { extend, type JsonOf } from "../wire/Keys.ts"
import type { TrendingLink } from "../wire/PreviewCard.ts"
import { AccountViews } from "./AccountViews.ts"
import { composeCard, creatorOf, prepareCard } from "./CardValues.ts"
import { historyValues } from "./Values.ts"

/** Trending links as serialised JSON; two queries, and those of `AccountViews` for the pages' authors. */
export class LinkViews extends Context.Service<LinkViews, {
  /** Returns links in the order of `ids`, which are those of cards. */
  readonly render: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<JsonOf<TrendingLink>>>
  /** Returns links by card id. */
  readonly byId: (
    viewer: Viewer,
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyMap<bigint, JsonOf<TrendingLink>>>
}>()("murmuration/http/render/LinkViews") {
  static readonly layer = Layer.effect(
    LinkViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const config = yield* ServerConfig
      const records = yield* LinkRecords
      const byId = Effect.fnUntraced(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
        const links = (yield* records.load(ids)).map(({ card, history, id }) => ({
          id,
          card: prepareCard(config, card),
          history
        }))
        const names = yield* accounts.byId(links.flatMap(({ card }) => creatorOf(card) ?? []))
        return new Map(links.flatMap(({ card, history, id }) => {
          const shown = composeCard(viewer, card, names)
          if (shown === undefined) return []
          return [[id, extend<TrendingLink>(shown, { history: historyValues(history) })]] as const
        }))
      })
      return LinkViews.of({
        byId: traced("LinkViews.byId")(byId),
        render: traced("LinkViews.render")(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
          return [...(yield* byId(viewer, ids)).values()]
        })
      })
    })
  ).pipe(Layer.provide(AccountViews.layer))
}
