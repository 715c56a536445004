import { Cause, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { NotificationRequests } from "../../src/services/feeds/NotificationRequests.ts"
import { Notifications } from "../../src/services/feeds/Notifications.ts"
import { Suggestions } from "../../src/services/suggestions/Suggestions.ts"
import { pair } from "./Facts.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

const roundsMax = 12
const pauseMillisMax = 1_500

/** Types whose notifications are counted individually (I9), and may be dismissed. */
const types = ["favourite", "reblog", "mention", "follow"]

/** Dismissals of a run. */
export interface Dismissed {
  /** Notifications whose dismissal was confirmed, by id. */
  readonly ids: Set<bigint>
  /** Notifications that an account dismissed or tried to dismiss, as `type account sender subject`. */
  readonly keys: Set<string>
  /** Confirmed dismissals of suggestions, as `account>suggested`. */
  readonly suggestions: Set<string>
}
export const none = (): Dismissed => ({ ids: new Set(), keys: new Set(), suggestions: new Set() })

export const notificationKey = (type: string, accountId: bigint, fromAccountId: bigint, subject: bigint) =>
  `${type} ${accountId} ${fromAccountId} ${subject}`

interface Row {
  readonly id: bigint
  readonly type: string
  readonly fromAccountId: bigint
  readonly statusId: bigint
}

/** In some seeds, dismisses notifications, requests of strangers and suggested accounts while others arrive. */
export const dismissRepeatedly = Effect.fnUntraced(
  function*(world: World, { outsideBus, sql }: Shared, people: ReadonlyArray<AccountId>) {
    const dice = new Dice(world.seed, "dismissals")
    if (dice.chance(0.5)) return
    const { dismissed } = world
    const context = yield* Layer.build(
      Layer.fresh(Layer.mergeAll(NotificationRequests.layer, Notifications.layer, Suggestions.layer)).pipe(
        Layer.provide([Layer.succeed(SqlClient.SqlClient, sql), Layer.succeed(Broadcast, outsideBus)])
      )
    )
    const [notifications, requests, suggestions] = [
      Context.get(context, Notifications),
      Context.get(context, NotificationRequests),
      Context.get(context, Suggestions)
    ]
    const one = Effect.fnUntraced(function*(owner: AccountId) {
      const rows = yield* sql<Row>`SELECT id, type, from_account_id, status_id FROM notifications
        WHERE account_id = ${owner} AND type = ANY (${types}::text[]) ORDER BY id DESC LIMIT 5`
      if (rows.length === 0) return
      const { fromAccountId, id, statusId, type } = dice.pick(rows)
      dismissed.keys.add(notificationKey(type, owner, fromAccountId, statusId))
      yield* notifications.dismiss(owner, [id])
      dismissed.ids.add(id)
      world.count("notification dismissed")
    })
    const ofStranger = Effect.fnUntraced(function*(owner: AccountId) {
      const asking = yield* sql<{ id: bigint; fromAccountId: bigint }>`SELECT id, from_account_id
        FROM notification_requests WHERE account_id = ${owner} ORDER BY id`
      if (asking.length === 0) return yield* one(owner)
      const { fromAccountId, id } = dice.pick(asking)
      // The request's dismissal also covers mentions that arrive during it.
      dismissed.keys.add(notificationKey("mention", owner, fromAccountId, 0n))
      yield* requests.dismiss(owner, [id])
      world.count("request dismissed")
    })
    const suggested = Effect.fnUntraced(function*(owner: AccountId) {
      const target = dice.pick(people.filter((other) => other !== owner))
      yield* suggestions.dismiss(owner, target)
      dismissed.suggestions.add(pair(owner, target))
      world.count("suggestion dismissed")
    })
    for (let n = 0; n < roundsMax; n++) {
      yield* Effect.sleep(dice.between(200, pauseMillisMax))
      const dismiss = dice.pick([one, one, ofStranger, ofStranger, suggested])
      yield* dismiss(dice.pick(people)).pipe(
        // The apps show an error while the database is down.
        Effect.catchCause((cause) => isSqlError(Cause.squash(cause)) ? Effect.void : Effect.failCause(cause))
      )
    }
  },
  Effect.scoped,
  (dismissing) => Effect.ignore(dismissing)
)

/** I32: a dismissed notification does not come back, and a dismissed suggestion stays dismissed. */
export const check = Effect.fnUntraced(function*({ dismissed: { ids, suggestions } }: World, { sql }: Shared) {
  const restored = yield* sql<{ id: bigint }>`SELECT id FROM notifications WHERE id = ANY (${[...ids]}::bigint[])`
  const rows = yield* sql<{ accountId: bigint; targetAccountId: bigint }>`
    SELECT account_id, target_account_id FROM dismissed_suggestions WHERE for_good`
  const stored = new Set(rows.map(({ accountId, targetAccountId }) => pair(accountId, targetAccountId)))
  return [
    ...restored.map(({ id }) => `I32: the notification ${id} was dismissed, but exists`),
    ...[...suggestions].filter((one) => !stored.has(one)).map((one) =>
      `I32: the dismissal of the suggestion ${one} is lost`
    )
  ]
})
