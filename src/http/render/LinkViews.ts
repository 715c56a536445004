import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/Traced.ts"
import { LinkRecords } from "../../services/trends/LinkRecords.ts"
import type { Viewer } from "../../services/Viewer.ts"
import { extend, type Ready } from "../wire/Keys.ts"
import type { TrendingLink } from "../wire/PreviewCard.ts"
import { AccountViews } from "./AccountViews.ts"
import { composeCard, creatorOf, readyCard } from "./CardValues.ts"
import { historyValues } from "./Values.ts"

/** Links that trend as ready JSON; two queries, and those of `AccountViews` for who wrote the pages. */
export class LinkViews extends Context.Service<LinkViews, {
  /** In the order of `ids`, which are those of cards. */
  readonly render: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<Ready<TrendingLink>>>
}>()("murmuration/http/render/LinkViews") {
  static readonly layer = Layer.effect(
    LinkViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const config = yield* ServerConfig
      const records = yield* LinkRecords
      return LinkViews.of({
        render: traced("LinkViews.render")(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
          const links = (yield* records.load(ids)).map(({ card, history }) => ({
            card: readyCard(config, card),
            history
          }))
          const names = yield* accounts.byId(links.flatMap(({ card }) => creatorOf(card) ?? []))
          return links.flatMap(({ card, history }) => {
            const shown = composeCard(viewer, card, names)
            return shown === undefined ? [] : [extend<TrendingLink>(shown, { history: historyValues(history) })]
          })
        })
      })
    })
  ).pipe(Layer.provide(AccountViews.layer))
}
