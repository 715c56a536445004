import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { HeldPost } from "../../services/spam/HeldPosts.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { AdminAccountViews } from "../staff/render/AdminAccountViews.ts"
import { id, idOrNull, timestamp } from "../wire/Common.ts"
import { type JsonOf, withMembers } from "../wire/Keys.ts"
import type { AdminHeldPost } from "./wire/Spam.ts"

/** Held posts as serialised JSON with the post and its author, in a fixed number of queries. */
export class HeldPostViews extends Context.Service<HeldPostViews, {
  readonly render: (
    moderator: AccountId,
    posts: ReadonlyArray<HeldPost>
  ) => Effect.Effect<ReadonlyArray<JsonOf<AdminHeldPost>>>
}>()("murmuration/http/spam/HeldPostViews") {
  static readonly layer = Layer.effect(
    HeldPostViews,
    Effect.gen(function*() {
      const accounts = yield* AdminAccountViews
      const statuses = yield* StatusViews
      return HeldPostViews.of({
        render: traced("HeldPostViews.render")(function*(moderator, posts) {
          const people = yield* accounts.byId(posts.map(({ accountId }) => accountId))
          const shown = yield* statuses.byId(moderator, posts.map(({ statusId }) => statusId), "permitted")
          return yield* renderedRows("held post", posts, (one) => one.statusId, (one) => {
            const [account, status] = [people.get(one.accountId), shown.get(one.statusId)]
            if (account === undefined || status === undefined) return undefined
            return withMembers<AdminHeldPost, "account" | "status">({
              id: id(one.statusId),
              ruleId: idOrNull(one.ruleId),
              ruleName: one.ruleName,
              visibility: one.visibility,
              createdAt: timestamp(one.createdAt)
            }, { account, status })
          })
        })
      })
    })
  ).pipe(Layer.provide([AdminAccountViews.layer, StatusViews.layer]))
}
