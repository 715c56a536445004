import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import {
  asForeign,
  type Foreign,
  idOf,
  idsOf,
  urlReader
} from "../../../services/federation/documents/ForeignValues.ts"
import { requestedKind } from "../../../services/federation/documents/InteractionDocument.ts"
import type { NeedsFetch } from "../../../services/federation/fetching/OriginChecks.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris, type NamedStatus } from "../../../services/federation/inbox/KnownUris.ts"
import type { Order } from "../../../services/federation/inbox/Tombstones.ts"
import { Undoables } from "../../../services/federation/inbox/Undoables.ts"
import {
  type Asking,
  InteractionActivities,
  requestedBy
} from "../../../services/federation/outbox/InteractionActivities.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import { isOpenToAll } from "../../../services/statuses/InteractionPolicy.ts"
import type { DecidedRequest, RequestState } from "../../../services/statuses/InteractionRequest.ts"
import { InteractionRequests } from "../../../services/statuses/InteractionRequests.ts"
import { PolicyVerdicts } from "../../../services/statuses/PolicyVerdicts.ts"
import { type StatusTarget, StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import * as Gates from "../core/Gates.ts"
import { done, ignored, type Outcome } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Sending from "../fanout/Sending.ts"
import * as Controlling from "../verbs/Controlling.ts"
import * as RemovingReplies from "../verbs/RemovingReplies.ts"
import type { make as makeBoosts } from "./InboxBoosts.ts"
import { type make as makePosts } from "./InboxPosts.ts"

/** Maximum length of a stored id, in characters. */
const uriCharactersMax = 2_000
const undecided: ReadonlyArray<RequestState> = ["pending", "accepted"]

/**
 * Handles a remote account's likes, its requests to reply to, like or boost local posts, and its replies to local
 * requests; inside a transaction of its actor.
 */
export const make = Effect.fnUntraced(function*(
  posts: Pick<Effect.Success<ReturnType<typeof makePosts>>, "create">,
  boosts: Pick<Effect.Success<ReturnType<typeof makeBoosts>>, "announce">
) {
  const { outboundAllow, publicUrl } = yield* ServerConfig
  const activities = yield* InteractionActivities
  const control = yield* Controlling.make
  const gates = yield* Gates.make
  const knownUris = yield* KnownUris
  const removing = yield* RemovingReplies.make
  const requests = yield* InteractionRequests
  const send = yield* Sending.make
  const statusTargets = yield* StatusTargets
  const undoables = yield* Undoables
  const verdicts = yield* PolicyVerdicts
  const readUrl = urlReader(outboundAllow)
  const originOf = (uri: string) => URL.parse(uri)?.origin
  const isOwn = (self: InboundSender, id: string) =>
    id !== "" && id.length <= uriCharactersMax && readUrl(id)?.origin === originOf(self.uri)

  const visible = (own: Ownership, statusId: bigint) =>
    Effect.catchTag(statusTargets.visible(own.accountId, statusId), "RecordNotFound", () => Effect.undefined)

  const refuse = (own: Ownership, author: bigint, asking: Asking) =>
    Effect.andThen(send(activities.refuse(author, own.accountId, asking)), ignored("the request is refused"))

  /** Handles a Like that needs approval; undefined if the post may be liked freely. */
  const like = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, target: StatusTarget, uri: string, requestUri?: string) {
      const agreement = yield* gates.agreed(own.accountId, target, "favourite")
      if (agreement === undefined) {
        const asking = {
          kind: "favourite",
          request: requestUri,
          requester: self.uri,
          object: "",
          instrument: uri
        } as const
        return yield* target.local
          ? refuse(own, target.accountId, { ...asking, object: yield* localUri(target) })
          : ignored("no consent of the author")
      }
      if (agreement === "free" && requestUri === undefined) return undefined
      const agreed = agreement === "asks" ? "asks" : "agreed"
      yield* control.favourite(own, target, agreed, { uri, requestUri })
      if (isOwn(self, uri)) yield* undoables.remember(own.accountId, uri, { type: "Like", targetId: target.id })
      return done
    }
  )
  const localUri = (target: StatusTarget) => Effect.map(activities.uriOf(target.id), (uri) => uri ?? "")

  const liked = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, activity: Foreign, named: NamedStatus) {
      if (isOpenToAll(named.interactionPolicy, "canLike")) return undefined
      const target = yield* visible(own, named.id)
      return target && (yield* like(own, self, target, idOf(activity) ?? ""))
    }
  )

  const request = (
    own: Ownership,
    self: InboundSender,
    activity: Foreign,
    now: number,
    order: Order
  ): Outcome =>
    Effect.gen(function*() {
      const kind = requestedKind(activity) ?? "reply"
      const id = idOf(activity) ?? ""
      const embedded = asForeign(activity["instrument"])
      const [object, instrument] = [idOf(activity["object"]) ?? "", idOf(activity["instrument"]) ?? ""]
      if (!isOwn(self, id) || !isOwn(self, instrument)) return yield* ignored("an id of another server")
      const [local] = yield* knownUris.localStatuses([object])
      if (local === undefined) return yield* ignored("an unknown post")
      const asking: Asking = { kind, request: id, requester: self.uri, object, instrument }
      const target = yield* visible(own, local.id)
      const separate = target !== undefined && (yield* verdicts.isSeparate(own.accountId, target.accountId))
      if (target?.id !== local.id || separate) return yield* refuse(own, local.accountId, asking)
      // The request must embed the interaction: an id alone could be another author's, or its object could change
      // before the fetch.
      if (embedded === undefined) return yield* ignored("a request without its object")
      const about = kind === "reply" ? embedded["inReplyTo"] : embedded["object"]
      const [by] = idsOf(kind === "reply" ? embedded["attributedTo"] : embedded["actor"] ?? self.uri)
      if (idOf(about) !== object || by !== self.uri) return yield* ignored("a request for another object")
      const sent = { uri: instrument, requestUri: id }
      if (kind === "favourite") return (yield* like(own, self, target, instrument, id)) ?? done
      if (kind === "reblog") return yield* boosts.announce(own, self, embedded, order, sent)
      const known = yield* knownUris.status(instrument)
      if (known !== undefined) return yield* handleStored(own, known, local.id, asking)
      return yield* posts.create(own, self, embedded, now, true, sent)
    })

  /** Handles a request for a reply that is already stored. */
  const handleStored = Effect.fnUntraced(function*(own: Ownership, replyId: bigint, parentId: bigint, asking: Asking) {
    const before = yield* requests.ofInteraction(replyId)
    if (before !== undefined && before.statusId === parentId) {
      return before.state === "accepted"
        ? yield* Effect.as(send(activities.respond("Accept", before.id)), done)
        : yield* ignored("a repeated request")
    }
    const target = yield* statusTargets.visible(own.accountId, parentId)
    const reply = yield* verdicts.isReply(replyId, parentId, own.accountId)
    if (!reply) return yield* refuse(own, target.accountId, asking)
    yield* control.attach(own, target, "reply", "agreed", replyId, {
      uri: asking.instrument,
      requestUri: asking.request
    })
    return done
  })

  /** Ends a request. An approved reply is removed from its thread. */
  const ended = (own: Ownership, request: DecidedRequest) =>
    request.kind === "reply" && request.before === "accepted" && request.interactionId !== null
      ? removing.rejected(own, request.interactionId)
      : control.rejected(request)

  /**
   * Returns the local request that a reply is about. The reply may name the interaction's own id instead of the
   * request's.
   */
  const asked = Effect.fnUntraced(function*(object: unknown) {
    const byId = requestedBy(publicUrl, idOf(object) ?? "")
    if (byId !== undefined) return byId
    const statusId = yield* knownUris.status(idOf(object) ?? "")
    const request = statusId === undefined ? undefined : yield* requests.ofInteraction(statusId)
    return request?.state === "pending" && request.local ? request.id : undefined
  })

  const decided = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, activity: Foreign, id: bigint, isAccepted: boolean) {
      // Only the status's author decides: that author is the sender.
      if (!isAccepted) {
        const request = yield* requests.decide(id, own.accountId, undecided, "rejected")
        if (request === undefined) return yield* ignored("no pending request of this server")
        yield* ended(own, request)
        return done
      }
      const stamp = idOf(activity["result"]) ?? ""
      if (!isOwn(self, stamp)) return yield* ignored("an id of another server")
      const request = yield* requests.decide(id, own.accountId, ["pending"], "accepted", stamp)
      if (request === undefined) return yield* ignored("no pending request of this server")
      yield* control.accepted(request)
      if (request.kind === "favourite") yield* send(activities.like(id, stamp))
      return done
    }
  )
  /** Handles an Accept or Reject; undefined if it does not reply to a local request. */
  const settled = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, activity: Foreign, isAccepted: boolean): Effect.fn.Return<
      string | undefined,
      ClientError | SqlError | NeedsFetch
    > {
      const id = yield* asked(activity["object"])
      return id === undefined ? undefined : yield* decided(own, self, activity, id, isAccepted)
    }
  )

  /** Revokes the consents with this id; undefined if the id is unknown. */
  const revoked = Effect.fnUntraced(
    function*(own: Ownership, uri: string): Effect.fn.Return<string | undefined, ClientError | SqlError | NeedsFetch> {
      const found = yield* requests.byAuthorization(own.accountId, uri)
      for (const { id } of found) {
        const request = yield* requests.decide(id, own.accountId, undecided, "rejected")
        if (request !== undefined) yield* ended(own, request)
      }
      return found.length === 0 ? undefined : done
    }
  )

  return { liked, request, settled, revoked }
})
