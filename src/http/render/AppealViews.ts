import { Context, Effect, Layer } from "effect"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import type { Appeal } from "../../services/moderation/Appeals.ts"
import { Strikes } from "../../services/moderation/Strikes.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { AdminAppeal } from "../wire/Appeal.ts"
import { id, timestamp } from "../wire/Common.ts"
import { type JsonOf, withMembers } from "../wire/Keys.ts"
import type { AccountWarning } from "../wire/Notification.ts"
import { AccountViews } from "./AccountViews.ts"
import { warningText } from "./WarningJson.ts"

/** Strikes and appeals as serialised JSON; a list takes one query for strikes, and those of accounts. */
export class AppealViews extends Context.Service<AppealViews, {
  /** Returns strikes in the order of `ids`. */
  readonly strikes: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<JsonOf<AccountWarning>>>
  readonly render: (appeals: ReadonlyArray<Appeal>) => Effect.Effect<ReadonlyArray<JsonOf<AdminAppeal>>>
}>()("murmuration/http/render/AppealViews") {
  static readonly layer = Layer.effect(
    AppealViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const strikes = yield* Strikes

      const byId = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>) {
        const found = yield* strikes.load(ids)
        const people = yield* accounts.byId(
          new Set(Array.from(found.values(), ({ targetAccountId }) => targetAccountId))
        )
        return new Map([...found].flatMap(([one, strike]) => {
          const account = people.get(strike.targetAccountId)
          return account === undefined ? [] : [[one, { account, warning: warningText(strike, account) }] as const]
        }))
      })

      return AppealViews.of({
        strikes: traced("AppealViews.strikes")(function*(ids) {
          const found = yield* byId(ids)
          return ids.flatMap((one) => found.get(one)?.warning ?? [])
        }),
        render: traced("AppealViews.render")(function*(appeals) {
          const found = yield* byId(appeals.map(({ strikeId }) => strikeId))
          return yield* renderedRows("appeal", appeals, (one) => one.id, (one): JsonOf<AdminAppeal> | undefined => {
            const shown = found.get(one.strikeId)
            return shown && withMembers<AdminAppeal, "account" | "warning">({
              id: id(one.id),
              state: one.state,
              text: one.text,
              createdAt: timestamp(one.createdAt)
            }, shown)
          })
        })
      })
    })
  ).pipe(Layer.provide([AccountViews.layer, Strikes.layer]))
}
