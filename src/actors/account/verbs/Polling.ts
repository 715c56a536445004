import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../services/database/Ids.ts"
import { rowsOf } from "../../../services/database/Rows.ts"
import { DeliveryExpansion } from "../../../services/federation/outbox/DeliveryExpansion.ts"
import { PostActivities } from "../../../services/federation/outbox/PostActivities.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import { Polls } from "../../../services/statuses/Polls.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onStatus } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"

const hideTotalsRows = rowsOf(Schema.Struct({ hideTotals: Schema.Boolean }))

/** Delay in which votes are collected before other servers are told, in milliseconds (federation.md section 9). */
const pollUpdateMillis = 180_000

/** Votes of the account, and the ends of its own polls. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const agenda = yield* AgendaEntries
  const intend = yield* IntentWriter.make
  const polls = yield* Polls
  const statusTargets = yield* StatusTargets
  const deliveryExpansion = yield* DeliveryExpansion
  const activities = yield* PostActivities
  const send = yield* Sending.make
  const { federated } = yield* ServerConfig

  /** Schedules the end of a remote poll on its author's actor, so that local voters are notified. */
  const schedulePollEnd = Effect.fnUntraced(function*(statusId: bigint, author: bigint) {
    const endsAt = yield* polls.endOf(statusId)
    if (endsAt !== undefined) yield* agenda.enqueue("poll_end", statusId, AccountId.make(author), endsAt)
  })

  /** Schedules one poll update for other servers, some time after the first of several votes. */
  const schedulePollUpdate = Effect.fnUntraced(function*(statusId: bigint, author: AccountId) {
    if (!federated) return
    yield* agenda.enqueueOnce("poll_update", statusId, author, (yield* Clock.currentTimeMillis) + pollUpdateMillis)
  })

  return {
    verbs: {
      Vote: Effect.fnUntraced(function*({ accountId }: Ownership, { choices, statusId }: Commands["Vote"]) {
        const target = yield* statusTargets.touchable(accountId, statusId)
        yield* polls.vote(target.id, target.accountId, accountId, choices)
        if (target.local) yield* schedulePollUpdate(target.id, AccountId.make(target.accountId))
        else {
          yield* schedulePollEnd(target.id, target.accountId)
          yield* send(activities.vote(accountId, target.id, choices))
        }
        return onStatus(target.id)
      })
    },
    /** Sends followers the results so far, unless the author hides them until the end. */
    tell: Effect.fnUntraced(function*(own: Ownership, statusId: bigint) {
      const [poll] = yield* hideTotalsRows(sql`SELECT hide_totals FROM polls WHERE status_id = ${statusId}`)
      if (poll?.hideTotals === false) yield* deliveryExpansion.enqueueChange(own.accountId, statusId, "Update")
      own.backlog.unread = true
    }),
    /** Ends a poll of the account: voters are notified, and the results are published. */
    due: Effect.fnUntraced(function*(own: Ownership, statusId: bigint) {
      const endsAt = yield* polls.endOf(statusId)
      if (endsAt === undefined) return
      // The clock of the node that claimed the entry may be ahead of this one's.
      if (endsAt > (yield* Clock.currentTimeMillis)) {
        return yield* agenda.enqueue("poll_end", statusId, own.accountId, endsAt)
      }
      yield* agenda.cancel("poll_update", statusId)
      yield* intend(own, { _tag: "poll", statusId: statusId })
    })
  }
})
