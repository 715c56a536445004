import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../../../services/database/Ids.ts"
import { accountIdRows, rowsOf } from "../../../services/database/Rows.ts"
import { activityTypeOf, hasTrait } from "../../../services/federation/documents/ActivityTypes.ts"
import { asForeign, type Foreign, idOf } from "../../../services/federation/documents/ForeignValues.ts"
import { NeedsFetch, type OriginCheck, OriginChecks } from "../../../services/federation/fetching/OriginChecks.ts"
import { InboundActivities, type InboundActivity } from "../../../services/federation/inbox/InboundActivities.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { Relays } from "../../../services/federation/relays/Relays.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import { StoredStatus } from "../../../services/statuses/StoredStatus.ts"
import { isPublicOrUnlisted } from "../../../services/statuses/Visibility.ts"
import { AccountActors } from "../core/AccountActors.ts"
import { ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"

const visibilityRows = rowsOf(StoredStatus.mapFields(Struct.pick(["visibility"])))

/** Tries after which a followed author's unavailable post is no longer awaited: some 7 minutes. */
const underWayTriesMax = 3

/**
 * Handles activities that cannot be decided locally: those of others that the sender forwards, which are not trusted
 * (row 6), and those about unknown objects. The origin is checked outside the actor, while the activity waits on disk
 * and the actor continues. The activity is resumed when the origin responds, and dropped after its tries.
 */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const actors = yield* AccountActors
  const inbound = yield* InboundActivities
  const originChecks = yield* OriginChecks
  const knownUris = yield* KnownUris
  const relays = yield* Relays

  /** Returns true if the claim could concern a local account. Prevents senders from triggering useless fetches. */
  const couldConcern = Effect.fnUntraced(function*(activity: Foreign) {
    const parent = idOf(asForeign(activity["object"])?.["inReplyTo"])
    if (parent !== undefined && (yield* knownUris.status(parent)) !== undefined) return true
    const followed = yield* sql`SELECT FROM follows f JOIN accounts a ON a.id = f.target_account_id
      WHERE a.uri = ${idOf(activity["actor"]) ?? ""} LIMIT 1`
    return followed.length > 0
  })

  /** Returns the origin check that a forwarded activity calls for, or why it is ignored. */
  const reasonOf = Effect.fnUntraced(function*(accountId: AccountId, self: InboundSender, activity: Foreign) {
    const type = activityTypeOf(activity)
    const actor = URL.parse(idOf(activity["actor"]) ?? "")
    const uri = idOf(activity["object"]) ?? ""
    if (self.suspended) return yield* ignored("its sender is suspended")
    if (
      type === undefined || !hasTrait(type, "forwarded") || actor === null || URL.parse(uri)?.origin !== actor.origin ||
      uri === actor.href
    ) {
      return yield* ignored("not created by the sender")
    }
    const [known] = yield* visibilityRows(sql`SELECT visibility FROM statuses
      WHERE uri = ${uri} AND NOT local AND deleted_at IS NULL`)
    const creates = hasTrait(type, "creates")
    if (creates && known !== undefined) return yield* ignored("already stored")
    if (!creates && known === undefined) return yield* ignored("an unknown post")
    if (type !== "Delete") {
      // Posts from a relay are wanted although they concern no local account.
      if (creates && (yield* relays.isRelay(accountId))) return { kind: "post", uri } as const
      const concerns = known !== undefined || (yield* couldConcern(activity))
      return concerns ? { kind: "news", uri } as const : yield* ignored("irrelevant to local accounts")
    }
    // An origin returns 404 to readers who may not see a post.
    const open = known !== undefined && isPublicOrUnlisted(known.visibility)
    return { kind: open ? "gone" : "deleted", uri } as const
  })

  const forwarded = Effect.fnUntraced(function*(accountId: AccountId, self: InboundSender, activity: Foreign) {
    const reason = yield* reasonOf(accountId, self, activity)
    return typeof reason === "string" ? reason : yield* new NeedsFetch({ originCheck: reason })
  })

  /** Deletes a post that its origin no longer has. */
  const withdraw = Effect.fnUntraced(function*(uri: string) {
    const [status] = yield* accountIdRows(sql`SELECT account_id FROM statuses WHERE uri = ${uri} AND NOT local`)
    if (status !== undefined) yield* actors.tell(AccountId.make(status.accountId), { _tag: "Withdraw", uri })
  })

  const confirmed = Effect.fnUntraced(function*(own: Ownership, item: InboundActivity, { kind, uri }: OriginCheck) {
    if (kind === "post") {
      // The post may be stored under another id than the one that was fetched.
      if ((yield* knownUris.status(uri)) === undefined) return yield* inbound.complete(item.id, "ignored: not a post")
      yield* inbound.release(item.id)
      return yield* actors.wake(own.accountId)
    }
    if (kind !== "news") yield* withdraw(uri)
    yield* inbound.complete(item.id, "done: as its origin says")
  })

  /** Holds an activity until its origin check is done. */
  const wait = Effect.fnUntraced(
    function*(own: Ownership, item: InboundActivity, { originCheck: inquiry, underWay }: NeedsFetch) {
      yield* inbound.hold(item, inquiry.kind === "post" ? inquiry.uri : undefined)
      const mayArriveDirectly = underWay === true && item.tries < underWayTriesMax
      yield* originChecks.begin(inquiry, (verdict) => {
        const settled: Effect.Effect<void, ClientError | SqlError> = verdict._tag === "Yes"
          ? confirmed(own, item, inquiry)
          : verdict._tag === "Later"
          ? inbound.retrySoon(item)
          : mayArriveDirectly
          ? Effect.void
          : inbound.complete(item.id, `ignored: ${verdict.why}`)
        return Effect.catch(settled, (error) => Effect.logWarning("an activity failed; it will be retried", error))
      })
    }
  )
  return { forwarded, wait }
})
