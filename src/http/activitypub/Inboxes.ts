import { ByteSize, Effect, Layer, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { activityTypeOf } from "../../services/federation/documents/ActivityTypes.ts"
import { asActivity } from "../../services/federation/documents/Envelopes.ts"
import { asForeign, asList, type Foreign, idOf, typeOf } from "../../services/federation/documents/ForeignValues.ts"
import { activityStreams } from "../../services/federation/documents/Vocabulary.ts"
import { Congestion } from "../../services/federation/inbox/Congestion.ts"
import { InboundActivities } from "../../services/federation/inbox/InboundActivities.ts"
import { knownBy } from "../../services/federation/inbox/RepeatedActivities.ts"
import { LocalActors } from "../../services/federation/LocalActors.ts"
import { DeliveryHosts } from "../../services/federation/outbox/DeliveryHosts.ts"
import { InboundPolicies } from "../../services/federation/policies/InboundPolicies.ts"
import { closedDomain } from "../../services/federation/policies/SenderPolicies.ts"
import { ProvenAuthors } from "../../services/federation/ProvenAuthors.ts"
import { Senders } from "../../services/federation/Senders.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as BoundedJson from "../../services/outbound/BoundedJson.ts"
import { declaredBytes, tooLarge, unreadableBody } from "../body/BodyParsing.ts"
import { BodyReading } from "../body/BodyReading.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import { plainError } from "../guard/Reply.ts"
import { Admission, refuseBusy } from "./Admission.ts"
import { refused } from "./DocumentResponse.ts"
import { ownerBases, ownerIn } from "./OwnerPaths.ts"
import { signedRequest } from "./Requesters.ts"
import * as Synchronizing from "./Synchronizing.ts"

/** Maximum bytes of an activity; a larger one is refused before anything else is done with it (row 39). */
export const activityBytesMax = 1_048_576

const accepted = HttpServerResponse.empty({ status: 202 })

type Unidentified = Effect.Error<ReturnType<Senders["Service"]["verify"]>>

/** Returns true if an activity deletes or updates its own actor. */
const isAboutOwnActor = (activity: Foreign) =>
  ["Delete", "Update"].includes(activityTypeOf(activity) ?? "") &&
  idOf(activity["object"]) === idOf(activity["actor"])

/** Returns the response to a request whose sender could not be verified. */
const refuseSender = (error: Unidentified, activity: Foreign | undefined) => {
  switch (error._tag) {
    case "KeyUnavailable":
      // No `Retry-After`: senders would hold back all their deliveries to us until then.
      return Effect.succeed(plainError(503, error.message))
    case "Crowded":
      return refuseBusy("activities", "busy")
    case "DomainClosed":
      return Effect.succeed(plainError(403, error.message))
    case "Unverified": {
      if (error.malformed) return Effect.succeed(plainError(400, error.message))
      // The key of a deleted actor is gone, too. If the actor is unknown here, there is nothing to do.
      const isDone = activity !== undefined && isAboutOwnActor(activity)
      return Effect.succeed(isDone ? accepted : plainError(401, error.message))
    }
  }
}

/** Returns true for an activity whose id is on its actor's server. */
const isOwnId = (activity: Foreign) =>
  URL.parse(idOf(activity) ?? "")?.origin === URL.parse(idOf(activity["actor"]) ?? "none:")?.origin

/**
 * Returns true for an activity of another actor than the sender. Its id must be on its actor's server, because it could
 * not be deduplicated otherwise.
 */
const isForwarded = (activity: Foreign, sender: { readonly uri: string }) =>
  idOf(activity["actor"]) !== sender.uri && isOwnId(activity)

interface Received {
  readonly activity: Foreign
  /** As it was signed. */
  readonly document: Foreign
}

/** Returns the activity of another actor that a message forwards, by itself or inside of an Announce (FEP-1b12). */
const forwardedIn = (received: Received, sender: { readonly uri: string }): Received | undefined => {
  if (isForwarded(received.activity, sender)) return received
  const document = typeOf(received.activity, "Announce") === undefined
    ? undefined
    : asForeign(received.document["object"])
  const activity = asActivity(document)
  return document !== undefined && activity !== undefined && isForwarded(activity, sender)
    ? { activity, document }
    : undefined
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const admission = yield* Admission
  const bodyReading = yield* BodyReading
  const congestion = yield* Congestion
  const inbound = yield* InboundActivities
  const policies = yield* InboundPolicies
  const proofs = yield* ProvenAuthors
  const local = yield* LocalActors
  const senders = yield* Senders
  const deliveryHosts = yield* DeliveryHosts
  const { federated } = yield* ServerConfig
  const scope = yield* Effect.scope
  const synchronize = yield* Synchronizing.make

  /** Returns the raw bytes, which are what was signed. */
  const bodyOf = (request: HttpServerRequest.HttpServerRequest) => {
    const bytes = declaredBytes(request)
    return bytes !== undefined && bytes > activityBytesMax ? Effect.fail(tooLarge) : bodyReading.read(
      bytes,
      request.arrayBuffer.pipe(
        Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(activityBytesMax)),
        Effect.map((buffer) => new Uint8Array(buffer)),
        Effect.mapError(unreadableBody)
      )
    )
  }

  /** Parses an activity, and keeps the document as it was signed. */
  const activityIn = (text: string) => {
    const document = asForeign(Result.getOrElse(BoundedJson.parse(text), () => undefined))
    const activity = asActivity(document)
    return document !== undefined && activity !== undefined && asList(document["@context"]).includes(activityStreams)
      ? { activity, document }
      : undefined
  }

  // A slow sender takes no slot: the body is read before the request is admitted.
  const receive = Effect.gen(function*() {
    if (yield* congestion.isFull()) return yield* refuseBusy("activities", "backlog")
    const body = yield* bodyOf(yield* HttpServerRequest.HttpServerRequest)
    return yield* admission.admit("activities", accept(body))
  }).pipe(Effect.catch(Effect.succeed))

  /** Verifies the sender of a request, applies the policies and stores the activity. */
  const accept = (body: Uint8Array) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const verified = yield* Effect.result(senders.verify(signedRequest(request, body)))
      const text = new TextDecoder().decode(body)
      const read = activityIn(text)
      if (Result.isFailure(verified)) return yield* refuseSender(verified.failure, read?.activity)
      if (read === undefined) return plainError(400, "This is not an activity")
      const sender = verified.success
      const verdict = yield* policies.atInbox(sender, read.activity)
      // Senders are not told that a policy dropped their activity; only a blocked domain is, so that it stops.
      if (!verdict.passes) {
        return verdict.reason === closedDomain ? plainError(403, "This action is not allowed") : accepted
      }
      // A forwarded activity with a proof counts as its author's; without one, its object is fetched from its origin.
      const forwarded = forwardedIn(read, sender)
      const proven = forwarded && (yield* proofs.of(forwarded.document, "actor", addressOf(request)))
      const activity = proven === undefined || forwarded === undefined ? read.activity : forwarded.activity
      if (proven !== undefined && !(yield* policies.atInbox(proven, activity)).passes) return accepted
      const { accountId, signedMillis, uri } = proven ?? sender
      const isStored = !(yield* congestion.isFull(sender.domain)) &&
        (yield* Effect.orDie(inbound.enqueue(accountId, {
          ...knownBy(activity, uri),
          document: proven?.text ?? text,
          signedMillis,
          proven: proven !== undefined
        })))
      if (!isStored) return yield* refuseBusy("activities", "backlog")
      yield* actors.receive(accountId)
      // A host that sends is alive, whatever became of deliveries to it.
      yield* Effect.ignore(deliveryHosts.recordContact(new URL(sender.uri).host))
      const differences = synchronize(sender, request.headers["collection-synchronization"])
      yield* Effect.forkIn(Effect.ignoreCause(differences), scope)
      return accepted
    })

  const personal = Effect.flatMap(
    HttpRouter.params,
    (params) => Effect.matchEffect(local.find(ownerIn(params)), { onFailure: refused, onSuccess: () => receive })
  )

  return federated
    ? Layer.mergeAll(
      HttpRouter.add("POST", "/inbox", receive),
      HttpRouter.add("POST", "/actor/inbox", receive),
      HttpRouter.add("POST", `${ownerBases[0]}/inbox`, personal),
      HttpRouter.add("POST", `${ownerBases[1]}/inbox`, personal)
    )
    : Layer.empty
})

/**
 * Inboxes, to which other servers deliver activities. The signature is verified before anything is trusted. A 202 means
 * that the activity is on disk; its sender's actor processes it.
 */
export const layer = Layer.unwrap(make).pipe(Layer.provide(BodyReading.layer))
