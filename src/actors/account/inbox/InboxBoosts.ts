import { Clock, Effect } from "effect"
import { visibilityOf } from "../../../services/federation/documents/Addressing.ts"
import { isAddressed } from "../../../services/federation/documents/Envelopes.ts"
import {
  asForeign,
  type Foreign,
  idOf,
  idsOf,
  urlReader
} from "../../../services/federation/documents/ForeignValues.ts"
import { stampNamed } from "../../../services/federation/documents/InteractionDocument.ts"
import { NeedsFetch } from "../../../services/federation/fetching/OriginChecks.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { RemoteStatuses } from "../../../services/federation/inbox/RemoteStatuses.ts"
import { type Order, Tombstones } from "../../../services/federation/inbox/Tombstones.ts"
import { Undoables } from "../../../services/federation/inbox/Undoables.ts"
import { InteractionActivities } from "../../../services/federation/outbox/InteractionActivities.ts"
import { Relays } from "../../../services/federation/relays/Relays.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Reblogs } from "../../../services/statuses/Reblogs.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { isPublicOrUnlisted, type Visibility } from "../../../services/statuses/Visibility.ts"
import * as Gates from "../core/Gates.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import { done, ignored } from "../core/Outcome.ts"
import { nextMillis, type Ownership } from "../core/Ownership.ts"
import * as Sending from "../fanout/Sending.ts"
import * as Controlling from "../verbs/Controlling.ts"
import * as Screening from "../verbs/Screening.ts"
import { type make as makePosts } from "./InboxPosts.ts"

/** Maximum length of a boost's id, in characters. */
const uriCharactersMax = 2_000

/** Returns the audience of a boost; that of the post if the boost names none. A direct boost becomes followers-only. */
const audienceOf = (activity: Foreign, { followersUrl }: InboundSender, boosted: Visibility): Visibility => {
  if (!isAddressed(activity)) return boosted
  const { cc, to } = activity
  const claimedVisibility = visibilityOf({ to: idsOf(to), cc: idsOf(cc) }, followersUrl ?? undefined)
  return claimedVisibility === "direct" ? "private" : claimedVisibility
}

/** Handles boosts by a remote account, inside a transaction of its actor. */
export const make = Effect.fnUntraced(function*(posts: Pick<Effect.Success<ReturnType<typeof makePosts>>, "create">) {
  const { outboundAllow } = yield* ServerConfig
  const activities = yield* InteractionActivities
  const control = yield* Controlling.make
  const gates = yield* Gates.make
  const screening = yield* Screening.make
  const intend = yield* IntentWriter.make
  const reblogs = yield* Reblogs
  const relays = yield* Relays
  const send = yield* Sending.make
  const knownUris = yield* KnownUris
  const statuses = yield* RemoteStatuses
  const tombstones = yield* Tombstones
  const statusTargets = yield* StatusTargets
  const undoables = yield* Undoables
  const readUrl = urlReader(outboundAllow)

  /**
   * Returns the boosted post's id. A copy embedded in the boost is trusted if the booster wrote it (row 9). Any other
   * unknown post is fetched if a local account would see the boost.
   */
  const boosted = Effect.fnUntraced(function*(
    own: Ownership,
    self: InboundSender,
    object: unknown,
    followed: boolean
  ) {
    const uri = idOf(object) ?? ""
    const known = yield* knownUris.status(uri)
    if (known !== undefined) return known
    if (readUrl(uri) === undefined || !followed) return undefined
    const embedded = asForeign(object)
    if (idsOf(embedded?.["attributedTo"]).includes(self.uri)) {
      yield* posts.create(own, self, embedded, yield* Clock.currentTimeMillis, true)
      return yield* knownUris.status(uri)
    }
    return yield* new NeedsFetch({ originCheck: { kind: "post", uri } })
  })

  /**
   * Stores a boost. It is new if its `order` is after the Undo that ended an earlier one. `requested`: the booster
   * asked for approval.
   */
  const announce = Effect.fnUntraced(function*(
    own: Ownership,
    self: InboundSender,
    activity: Foreign,
    order: Order,
    requested?: Controlling.SentInteraction
  ) {
    // The id is taken verbatim, with its fragment: on some servers only the fragment tells boosts apart.
    const id = idOf(activity) ?? ""
    if (id.length > uriCharactersMax || readUrl(id)?.origin !== URL.parse(self.uri)?.origin) {
      return yield* ignored("an id of another server")
    }
    const { buried, held, ...wanted } = yield* statuses.deliveryFacts(own.accountId, id)
    const followed = wanted.followed || wanted.listed
    if (buried && (yield* tombstones.isInForce(own.accountId, id, order))) {
      return yield* ignored("already undone")
    }
    // Posts that a relay boosts are fetched; the boost itself is not stored.
    const relayed = !followed && (yield* relays.isRelay(own.accountId))
    const statusId = yield* boosted(own, self, activity["object"], followed || relayed)
    if (relayed) return statusId === undefined ? yield* ignored("an unknown post") : done
    if (statusId === undefined) return yield* ignored("an unknown post")
    const target = yield* statusTargets.visible(own.accountId, statusId)
    if (!isPublicOrUnlisted(target.visibility)) return yield* ignored("not a public or unlisted post")
    if (!target.local && !followed) return yield* ignored("irrelevant to local accounts")
    const before = yield* reblogs.find(own.accountId, target.id)
    if (before !== undefined) {
      yield* undoables.renew(own.accountId, before, id)
      return yield* ignored("already stored")
    }
    const authorization = stampNamed("reblog", activity)
    const consent = yield* gates.consent(own.accountId, target, { authorization }, requested !== undefined, "reblog")
    if (consent === undefined) {
      if (target.local) {
        yield* send(activities.refuse(target.accountId, own.accountId, {
          kind: "reblog",
          request: requested?.requestUri,
          requester: self.uri,
          object: idOf(activity["object"]) ?? "",
          instrument: id
        }))
      }
      return yield* ignored("no consent of the author")
    }
    if (held && !(yield* undoables.release(own.accountId, id))) {
      return yield* ignored("its id belongs to another object")
    }
    const { refusedBy } = yield* screening.boosts(own, { statusId: target.id, domain: self.domain })
    if (refusedBy !== undefined) return yield* ignored("refused by a spam rule")
    const visibility = audienceOf(activity, self, target.visibility)
    const boostId = yield* reblogs.insert({
      accountId: own.accountId,
      original: target.id,
      visibility,
      millis: yield* nextMillis(own),
      uri: id
    })
    if (consent.agreement !== "free") {
      const sent = { uri: id, ...requested }
      yield* control.attach(own, target, "reblog", consent.agreement, boostId, sent, consent.claimed)
    }
    if (consent.agreement !== "asks") yield* intend(own, { _tag: "publish", statusId: boostId })
    if (consent.agreement !== "asks" && target.local) {
      yield* intend(own, { _tag: "notify", type: "reblog", to: target.accountId, statusId: target.id })
    }
    return done
  })

  return { announce }
})
