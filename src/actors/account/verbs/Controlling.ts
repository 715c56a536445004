import { Clock, Effect } from "effect"
import { AccountId } from "../../../services/database/Ids.ts"
import { Objects } from "../../../services/federation/Objects.ts"
import { InteractionActivities } from "../../../services/federation/outbox/InteractionActivities.ts"
import { QuoteActivities } from "../../../services/federation/outbox/QuoteActivities.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import { Jobs } from "../../../services/intents/Jobs.ts"
import { NotAllowed } from "../../../services/runtime/Errors.ts"
import { Favourites } from "../../../services/statuses/Favourites.ts"
import { HeldStatuses } from "../../../services/statuses/HeldStatuses.ts"
import {
  type DecidedRequest,
  type KnownRequest,
  type PolicyTarget,
  type RequestKind
} from "../../../services/statuses/InteractionRequest.ts"
import { InteractionRequests } from "../../../services/statuses/InteractionRequests.ts"
import { Quotes } from "../../../services/statuses/Quotes.ts"
import { ReviewedStatuses } from "../../../services/statuses/ReviewedStatuses.ts"
import { StatusWriter } from "../../../services/statuses/StatusWriter.ts"
import { DigestPosts } from "../../../services/subscriptions/DigestPosts.ts"
import type { Agreement } from "../core/Gates.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Sending from "../fanout/Sending.ts"
import * as WaitingEnds from "./WaitingEnds.ts"

/** Ids of an interaction that came from another server. */
export interface SentInteraction {
  readonly uri: string
  readonly requestUri?: string | undefined
}

const waits = "This post is pending approval"

/** Replies, favourites and reblogs that need approval, inside the transaction of a command. */
export const make = Effect.gen(function*() {
  const activities = yield* InteractionActivities
  const digests = yield* DigestPosts
  const ends = yield* WaitingEnds.make
  const fanouts = yield* Fanouts
  const favourites = yield* Favourites
  const held = yield* HeldStatuses
  const intend = yield* IntentWriter.make
  const jobs = yield* Jobs
  const notificationWriter = yield* NotificationWriter
  const objects = yield* Objects
  const quoteActivities = yield* QuoteActivities
  const quotes = yield* Quotes
  const requests = yield* InteractionRequests
  const reviewed = yield* ReviewedStatuses
  const send = yield* Sending.make
  const statusWriter = yield* StatusWriter

  /** Asks the author for approval: a local one by a notification, a remote one by a request. */
  const ask = Effect.fnUntraced(
    function*(
      own: Ownership,
      target: PolicyTarget,
      kind: RequestKind,
      requestId: bigint,
      subject: bigint,
      instrument?: Readonly<Record<string, unknown>>
    ) {
      if (!target.local) return yield* send(activities.request(requestId, instrument))
      yield* intend(own, { _tag: "notify", type: `pending.${kind}`, to: target.accountId, statusId: subject })
    }
  )

  /** Stores a favourite that needs approval. */
  const favourite = Effect.fnUntraced(
    function*(own: Ownership, target: PolicyTarget, agreement: Exclude<Agreement, "free">, sent?: SentInteraction) {
      const { accountId } = own
      if (agreement === "asks" && (yield* favourites.has(accountId, target.id))) return
      const state = agreement === "agreed" ? "accepted" : "pending"
      const written = yield* requests.write({
        kind: "favourite",
        accountId,
        target,
        interactionId: null,
        state,
        ...sent
      })
      if (written.state === "accepted") {
        if ((yield* favourites.addAs(written.id, accountId, target.id)) && target.local) {
          yield* intend(own, { _tag: "notify", type: "favourite", to: target.accountId, statusId: target.id })
        }
        if (sent !== undefined) yield* send(activities.respond("Accept", written.id))
      } else if (written.isNew) {
        yield* ends.begin(target.local ? target.accountId : own.accountId, written.id)
        yield* ask(own, target, "favourite", written.id, target.id)
      }
    }
  )

  /**
   * Attaches an approval to a new reply or reblog that needs one. With approval it is published as usual, otherwise it
   * is held. `claimed` is the approval that it claims to have, which has to be verified first. Returns the request's
   * id.
   */
  const attach = Effect.fnUntraced(
    function*(
      own: Ownership,
      target: PolicyTarget,
      kind: "reply" | "reblog",
      agreement: Exclude<Agreement, "free">,
      interactionId: bigint,
      sent?: SentInteraction,
      claimed?: string
    ) {
      const { id } = yield* requests.write({
        kind,
        accountId: own.accountId,
        target,
        interactionId,
        state: agreement === "agreed" ? "accepted" : "pending",
        ...sent,
        authorizationUri: claimed
      })
      if (agreement === "agreed") {
        if (sent !== undefined) yield* send(activities.respond("Accept", id))
        return id
      }
      // Loaded before the status is held, which hides it from everybody.
      const shown = target.local || sent !== undefined
        ? undefined
        : (yield* objects.load([interactionId])).get(interactionId)
      yield* ends.begin(target.local ? target.accountId : own.accountId, id)
      yield* held.hold(interactionId, id, target.local && kind === "reply" ? target.accountId : null)
      if (claimed !== undefined) yield* jobs.enqueue("interaction", id)
      else {
        const instrument = shown && (kind === "reply" ? shown.note : shown.activity)
        yield* ask(own, target, kind, id, kind === "reply" ? interactionId : target.id, instrument)
      }
      return id
    }
  )

  const settled = ({ accountId, id, interactionId, kind, statusId }: KnownRequest) =>
    Effect.all([
      ends.cancel(id),
      notificationWriter.retractOne(
        `pending.${kind}`,
        accountId,
        kind === "reply" && interactionId !== null ? interactionId : statusId
      )
    ], { discard: true })

  /** Publishes a held post to its audience, with the quote request and the notification that were held back. */
  const revealed = Effect.fnUntraced(function*(author: AccountId, statusId: bigint) {
    yield* fanouts.enqueue(author, { _tag: "publish", statusId })
    yield* digests.enqueueRevealed(statusId)
    // While the post was held, its quote was neither requested nor announced.
    yield* send(quoteActivities.request(statusId))
    const quoted = yield* quotes.ofLocal(statusId)
    const type = quoted?.state === "accepted" ? "quote" : quoted?.state === "pending" ? "pending.quote" : undefined
    if (quoted === undefined || type === undefined) return
    const to = quoted.quotedAccountId
    if (type === "pending.quote") yield* ends.begin(to, statusId)
    yield* fanouts.enqueue(author, { _tag: "notify", type, to, statusId })
  })

  /** Carries out an approved request. */
  const accepted = Effect.fnUntraced(function*(request: DecidedRequest) {
    const { accountId, id, interactionId, kind, statusId } = request
    yield* settled(request)
    if (kind === "favourite") {
      yield* favourites.addAs(id, accountId, statusId)
    } else if (interactionId !== null && (yield* held.publish(request))) {
      yield* revealed(AccountId.make(accountId), interactionId)
    }
  })

  /** Ends a pending or approved interaction. A local author keeps a rejected reply, visible only to themselves. */
  const rejected = Effect.fnUntraced(function*(request: DecidedRequest) {
    const { accountId, before, interactionId, kind, local, statusId } = request
    yield* settled(request)
    if (kind === "favourite") {
      if (before === "accepted" && (yield* favourites.remove(accountId, statusId))) {
        yield* notificationWriter.retractOne("favourite", accountId, statusId)
      }
      return
    }
    if (interactionId === null) return
    if (before === "pending" && kind === "reply" && local) return yield* held.detach(interactionId)
    if (before === "pending") yield* held.count(interactionId, 1)
    yield* statusWriter.remove(interactionId, accountId, yield* Clock.currentTimeMillis)
    yield* notificationWriter.retract([interactionId])
    if (before === "accepted") {
      yield* fanouts.enqueue(AccountId.make(accountId), { _tag: "delete", statusId: interactionId })
    }
  })

  /** Ends the approval or review of a post that is about to be deleted. */
  const forget = Effect.fnUntraced(function*(author: AccountId, statusId: bigint) {
    const request = yield* requests.forget(statusId)
    if (request === undefined) return yield* Effect.asVoid(reviewed.forget(author, statusId))
    yield* settled(request)
    yield* held.count(statusId, 1)
  })

  /** Fails if a post of the account is held: the approved post must be the one that was asked about. */
  const refuseIfHeld = Effect.fnUntraced(function*(statusId: bigint) {
    if ((yield* held.isHeld(statusId)) || (yield* reviewed.isHeld(statusId))) {
      return yield* new NotAllowed({ text: waits })
    }
  })

  /** Withdraws the account's favourite or reblog of a status, or the request for it; false without a request. */
  const withdraw = Effect.fnUntraced(function*(own: Ownership, kind: "favourite" | "reblog", statusId: bigint) {
    const request = yield* requests.standing(kind, own.accountId, statusId)
    if (request === undefined) return false
    if (request.state === "pending") {
      if (kind === "favourite") yield* send(activities.undoLike(request.id))
      else if (request.interactionId !== null) yield* held.count(request.interactionId, 1)
    }
    yield* settled(request)
    yield* requests.remove(request.id)
    return true
  })

  /** Withdraws a request of another server. Returns its former state; undefined if the id is unknown. */
  const withdrawRequest = Effect.fnUntraced(function*(own: Ownership, requestUri: string) {
    const request = yield* requests.byRequest(own.accountId, requestUri)
    if (request?.state !== "pending") return request?.state
    yield* rejected({ ...request, before: "pending" })
    yield* requests.remove(request.id)
    return request.state
  })

  /** Holds a post again that its author's server has edited while it was held. */
  const holdAgain = Effect.fnUntraced(function*(statusId: bigint) {
    yield* (yield* reviewed.isHeld(statusId)) ? reviewed.holdAgain(statusId) : held.holdAgain(statusId)
  })

  return { favourite, attach, holdAgain, accepted, rejected, forget, revealed, refuseIfHeld, withdrawRequest, withdraw }
})
