import { Cause, Effect, Result, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { isOfTrait } from "../../../services/federation/documents/ActivityTypes.ts"
import { asActivity } from "../../../services/federation/documents/Envelopes.ts"
import { asForeign, type Foreign, idOf } from "../../../services/federation/documents/ForeignValues.ts"
import { NeedsFetch } from "../../../services/federation/fetching/OriginChecks.ts"
import {
  InboundActivities,
  type InboundActivity,
  inboundRoundMax
} from "../../../services/federation/inbox/InboundActivities.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { InboundPolicies } from "../../../services/federation/policies/InboundPolicies.ts"
import * as BoundedJson from "../../../services/outbound/BoundedJson.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import { continued } from "../../../services/runtime/TraceParents.ts"
import { AccountActors } from "../core/AccountActors.ts"
import type { Owners, Ownership } from "../core/Ownership.ts"
import * as SharedTransaction from "../core/SharedTransaction.ts"
import type { Verbs } from "../core/Verbs.ts"
import type { Times } from "./InboxActivities.ts"
import * as InboxActivities from "./InboxActivities.ts"
import * as InboxForwards from "./InboxForwards.ts"

type Settled = <A, E>(own: Ownership, work: Effect.Effect<A, E>) => Effect.Effect<A, E>

/**
 * Processes a remote account's activities in the order in which they arrived. Each runs in one transaction that also
 * marks it done, so it takes effect once. A refused activity is marked done, with the reason. A failed one is retried
 * later and does not hold up the rest. `settled` wraps work that leaves intents.
 */
export const make = Effect.fnUntraced(function*(owners: Owners, verbs: Verbs, settled: Settled) {
  const actors = yield* AccountActors
  const inbound = yield* InboundActivities
  const activities = yield* InboxActivities.make(verbs)
  const forwards = yield* InboxForwards.make
  const policies = yield* InboundPolicies
  const batch = yield* SharedTransaction.make(owners)

  const finish = (own: Ownership, { id }: InboundActivity, outcome: string) =>
    owners.owned(own, inbound.complete(id, outcome))

  const activityIn = ({ document }: InboundActivity) =>
    asActivity(Result.getOrElse(BoundedJson.parse(document), () => undefined))

  /** Performs an activity by the account itself, in the current transaction. */
  const perform = Effect.fnUntraced(
    function*(own: Ownership, item: InboundActivity, self: InboundSender, activity: Foreign) {
      const judgement = yield* policies.inTransaction({ ...self, accountId: own.accountId }, activity)
      if (!judgement.passes) return yield* inbound.complete(item.id, `dropped: ${judgement.reason}`)
      const outcome = yield* activities.perform(own, self, judgement.activity, timesOf(item))
      const changes = judgement.changes.map((reason) => `; changed: ${reason}`)
      yield* inbound.complete(item.id, outcome + changes.join(""))
    }
  )

  const process = Effect.fnUntraced(function*(own: Ownership, item: InboundActivity, self: InboundSender) {
    const activity = activityIn(item)
    if (activity === undefined) return yield* finish(own, item, "ignored: not an activity")
    if (idOf(activity["actor"]) !== self.uri) {
      return yield* finish(own, item, yield* forwards.forwarded(own.accountId, self, activity))
    }
    yield* settled(own, owners.owned(own, perform(own, item, self, activity)))
  }, (processed, _own, item) => continued("Inbox.process", item.traceParent, { tries: item.tries })(processed))

  /** Records refusals as outcomes; schedules a retry after other failures. */
  const onFailure = (
    own: Ownership,
    item: InboundActivity,
    cause: Cause.Cause<ClientError | SqlError | NeedsFetch | Error>
  ) => {
    for (const reason of cause.reasons) {
      if (!Cause.isFailReason(reason) || isSqlError(reason.error)) continue
      const { error } = reason
      if (isNeedsFetch(error)) return forwards.wait(own, item, error)
      if ("_tag" in error && refusals.has(error._tag)) {
        return finish(own, item, `ignored: ${error.message}`)
      }
    }
    return Effect.andThen(
      Effect.logWarning("an activity failed; it will be retried", cause),
      inbound.retry(item, reasonOf(cause))
    )
  }

  /** Processes the claimed activities one by one. */
  const processAll = Effect.fnUntraced(function*(own: Ownership) {
    const { sender: self, waiting } = yield* inbound.claim(own.accountId)
    for (const item of waiting) {
      yield* self === undefined
        ? finish(own, item, "ignored: not from another server")
        : process(own, item, self).pipe(Effect.catchCause((cause) => onFailure(own, item, cause)))
    }
    if (waiting.length === inboundRoundMax) yield* actors.receive(own.accountId)
  })

  /**
   * Performs the leading activities while they are common. Returns whether some are left, and whether those may run the
   * same way. After the first only posts run here: another type may fail, and would roll back the work before it.
   */
  const runCommon = Effect.fnUntraced(function*(own: Ownership) {
    const { sender: self, waiting } = yield* inbound.claim(own.accountId)
    for (const [done, item] of waiting.entries()) {
      const activity = item.tries > 0 ? undefined : activityIn(item)
      if (self === undefined || activity === undefined || !isCommon(self, activity)) return "left"
      const isPost = isOfTrait(activity, "creates")
      if (done === sharedActivitiesMax || (done > 0 && !isPost)) return "more"
      yield* perform(own, item, self, activity).pipe(continued("Inbox.process", item.traceParent))
    }
    return "done"
  })

  /**
   * Like `processAll`, but mostly in one transaction with other accounts' activities; those that fail there are retried
   * alone.
   */
  const receive = (own: Ownership): Effect.Effect<void, ClientError | SqlError> =>
    Effect.matchCauseEffect(settled(own, batch(own, runCommon(own))), {
      onFailure: () => processAll(own),
      onSuccess: (end) => end === "done" ? Effect.void : end === "more" ? receive(own) : processAll(own)
    })
  return { receive, processAll }
})

const timesOf = ({ id, receivedAt, signedAt }: InboundActivity): Times => ({
  place: id,
  received: receivedAt.getTime(),
  signed: (signedAt ?? receivedAt).getTime()
})

/** Maximum activities of one account in a shared transaction. */
const sharedActivitiesMax = 8

/** Returns true for frequent activity types that need a few short statements. A note with a name may be a vote. */
const isCommon = (self: InboundSender, activity: Foreign) => {
  if (idOf(activity["actor"]) !== self.uri || !isOfTrait(activity, "common")) return false
  const object = asForeign(activity["object"])
  return !isOfTrait(activity, "creates") || (object !== undefined && object["name"] === undefined)
}

const isNeedsFetch = Schema.is(NeedsFetch)
/** Depth of nested causes that are reported. */
const causesMax = 5
const reasonCharactersMax = 500

/** Returns the messages from the outermost to the innermost error; Postgres errors have the text that matters last. */
const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const messages: Array<string> = []
  for (let error = Cause.squash(cause); error instanceof Error && messages.length < causesMax; error = error.cause) {
    if (!messages.includes(error.message)) messages.push(error.message)
  }
  return (messages.join(": ") || Cause.pretty(cause)).slice(0, reasonCharactersMax)
}

/** Errors that a retry would repeat; anything unavailable may succeed later. */
const refusals = new Set([
  "BadRequest",
  "Conflict",
  "Gone",
  "NotAllowed",
  "RecordNotFound",
  "Unauthorized",
  "UnexpectedMentions",
  "Unprocessable"
])
