import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../services/Broadcast.ts"
import { AccountId } from "../../services/Ids.ts"
import { AgendaEntries } from "../../services/intents/Agenda.ts"
import { Polls } from "../../services/statuses/Polls.ts"
import { Targets } from "../../services/statuses/Targets.ts"
import * as Intents from "./Intents.ts"
import type { Ownership } from "./Ownership.ts"
import { type Commands, onStatus } from "./Verbs.ts"

/** Votes of the account, and the ends of its own polls. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const agenda = yield* AgendaEntries
  const broadcast = yield* Broadcast
  const intend = yield* Intents.make
  const polls = yield* Polls
  const targets = yield* Targets

  /** Voters here are told of the end of a poll elsewhere too; its author's actor does that. */
  const remember = Effect.fnUntraced(function*(statusId: bigint, author: bigint) {
    const endsAt = yield* polls.endOf(statusId)
    if (endsAt !== undefined) yield* agenda.enter("poll_end", statusId, AccountId.make(author), endsAt)
  })

  const changed = (statusId: bigint) =>
    sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: [statusId] }))

  return {
    verbs: {
      Vote: Effect.fnUntraced(function*({ accountId }: Ownership, { choices, statusId }: Commands["Vote"]) {
        const target = yield* targets.visible(accountId, statusId)
        yield* polls.vote(target.id, target.accountId, accountId, choices)
        if (!target.local) yield* remember(target.id, target.accountId)
        yield* changed(target.id)
        return onStatus(target.id)
      })
    },
    /** A poll of the account has ended: whoever voted is told, and everybody sees how. */
    due: Effect.fnUntraced(function*(own: Ownership, statusId: bigint) {
      const endsAt = yield* polls.endOf(statusId)
      if (endsAt === undefined) return
      // The node that took it for due may be ahead of this one's clock.
      if (endsAt > (yield* Clock.currentTimeMillis)) {
        return yield* agenda.enter("poll_end", statusId, own.accountId, endsAt)
      }
      yield* intend(own, "poll", statusId)
      yield* changed(statusId)
    })
  }
})
