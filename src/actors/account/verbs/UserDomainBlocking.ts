import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../services/database/Ids.ts"
import { Severances } from "../../../services/federation/domains/Severances.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import { UserDomainBlocks, userDomainBlockSliceMax } from "../../../services/social/UserDomainBlocks.ts"
import { lockAccount, lockPairs } from "../../../services/visibility/Pairs.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount, type Verbs } from "../core/Verbs.ts"
import * as Approving from "./Approving.ts"
import * as Quoting from "./Quoting.ts"

type Relations = Pick<Verbs, "RejectFollow" | "RemoveFollower" | "Unfollow">

/**
 * A user's block of a whole server. Its posts are hidden at once. Existing follows and quotes are ended in slices, each
 * as if the user ended it, so that the other server is told.
 */
export const make = Effect.fnUntraced(function*(relations: Relations) {
  const sql = yield* SqlClient.SqlClient
  const agenda = yield* AgendaEntries
  const domains = yield* UserDomainBlocks
  const notifications = yield* NotificationWriter
  const severances = yield* Severances
  const approving = yield* Approving.make
  const quoting = yield* Quoting.make

  const verbs = {
    BlockDomain: Effect.fnUntraced(function*(own: Ownership, { domain }: Commands["BlockDomain"]) {
      // The lock keeps accounts of the domain from becoming followers in the meantime.
      yield* lockAccount(sql, own.accountId)
      const id = yield* domains.add(own.accountId, domain)
      if (id !== undefined) yield* agenda.enqueue("domain_block", id, own.accountId, yield* Clock.currentTimeMillis)
      return onAccount(own.accountId)
    }),
    UnblockDomain: Effect.fnUntraced(function*(own: Ownership, { domain }: Commands["UnblockDomain"]) {
      const id = yield* domains.remove(own.accountId, domain)
      if (id !== undefined) yield* agenda.cancel("domain_block", id)
      return onAccount(own.accountId)
    })
  }

  /** Ends a slice of the relations, in the current transaction, and schedules the next slice. */
  const due = Effect.fnUntraced(function*(own: Ownership, id: bigint) {
    const { accountId } = own
    const domain = yield* domains.domainOf(accountId, id)
    if (domain === undefined) return
    const related = yield* domains.related(accountId, domain)
    const quotes = yield* domains.quotes(accountId, domain)
    yield* lockPairs(sql, [...related, ...quotes].map((one) => [accountId, one.accountId]))
    let [followers, following] = [0, 0]
    let asking = false
    for (const one of related) {
      const target = AccountId.make(one.accountId)
      if (one.followed) yield* relations.Unfollow(own, { _tag: "Unfollow", target })
      if (one.requesting) yield* relations.RejectFollow(own, { _tag: "RejectFollow", target })
      if (one.follower) yield* relations.RemoveFollower(own, { _tag: "RemoveFollower", target })
      if (one.asking) asking = (yield* approving.rejectRequestsOf(own, target)) || asking
      if (one.followed) following++
      if (one.follower) followers++
    }
    for (const { statusId } of quotes) yield* quoting.revoke(own, statusId)
    const cause = { id, type: "user_domain_block", targetName: domain } as const
    if (followers + following > 0) {
      const now = yield* Clock.currentTimeMillis
      yield* severances.record(cause, new Map([[accountId, { followers, following }]]), now)
    }
    if (asking || related.length === userDomainBlockSliceMax || quotes.length === userDomainBlockSliceMax) {
      return yield* agenda.enqueue("domain_block", id, accountId, yield* Clock.currentTimeMillis)
    }
    const { events } = yield* severances.of(id, 0n)
    yield* notifications.notifyOwners("severed_relationships", events)
  })
  return { verbs, due }
})
