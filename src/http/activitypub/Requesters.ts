import { Context, Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { NotAllowed, Unavailable } from "../../services/Errors.ts"
import { hostsOf } from "../../services/federation/domains/DomainAccounts.ts"
import { DomainPolicies } from "../../services/federation/domains/DomainPolicies.ts"
import { policyOfAll } from "../../services/federation/domains/DomainPolicy.ts"
import { Senders } from "../../services/federation/Senders.ts"
import type { SignedRequest } from "../../services/federation/signatures/SignedRequest.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Viewer } from "../../services/Viewer.ts"
import { addressOf } from "../guard/ClientAddresses.ts"

/** Who may share an answer: everybody, or requests signed by the same actor. */
export type CacheScope = "everybody" | "signer"

/** Who asks for a document, and who else may be given what it is answered. */
interface Requester {
  readonly viewer: Viewer
  readonly scope: CacheScope
  /** Why a signature did not count; undefined where it did, and where there is none. */
  readonly refusal?: NotSigned | Unavailable
}

/** Seconds that a request for a document for everybody waits for its signer's key. */
const keySecondsMax = 5

/** A signature that is not there or does not hold, with the reason that other servers' operators look for. */
export class NotSigned extends Schema.TaggedError<NotSigned>()("NotSigned", {
  text: Schema.String,
  malformed: Schema.Boolean
}) {
  override get message() {
    return this.text
  }
}

/** Parts of a request that its signature may cover. */
export const signedRequest = (request: HttpServerRequest.HttpServerRequest, body: Uint8Array): SignedRequest => {
  const { headers, method, url } = request
  return { method, target: url, headers, body, address: addressOf(request) }
}

/**
 * Other servers that ask for documents. Who signs sees what that account may; who does not, what is for everybody, and in
 * secure mode and in restricted mode nothing (S-024). A signature that cannot be verified counts as none. A signer that
 * is suspended here, or whose domain is, sees nothing.
 */
export class Requesters extends Context.Service<Requesters, {
  readonly current: Effect.Effect<
    Requester,
    NotSigned | NotAllowed | Unavailable,
    HttpServerRequest.HttpServerRequest
  >
}>()("murmuration/http/activitypub/Requesters") {
  static readonly layer = Layer.effect(
    Requesters,
    Effect.gen(function*() {
      const { authorizedFetch, limitedFederation } = yield* ServerConfig
      const signedOnly = authorizedFetch || limitedFederation
      const domains = yield* DomainPolicies
      const senders = yield* Senders
      const everybody: Requester = { viewer: undefined, scope: "everybody" }
      const current = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (request.headers["signature"] === undefined && !signedOnly) return everybody
        const unverified = (refusal: NotSigned | Unavailable) =>
          signedOnly ? Effect.fail(refusal) : Effect.succeed({ ...everybody, refusal })
        const sender = yield* senders.verify(
          signedRequest(request, new Uint8Array()),
          signedOnly ? undefined : keySecondsMax
        ).pipe(
          Effect.catchTags({
            Unverified: ({ malformed, text }) => unverified(new NotSigned({ malformed, text })),
            KeyUnavailable: () => unverified(new Unavailable()),
            Crowded: ({ placed }) => placed ? unverified(new Unavailable()) : new Unavailable(),
            DomainClosed: () => new NotAllowed()
          })
        )
        if ("scope" in sender) return sender
        const policy = policyOfAll(yield* domains.current, hostsOf(sender))
        if (sender.suspended || !policy.allowed) return yield* new NotAllowed()
        return { viewer: sender.accountId, scope: "signer" } satisfies Requester
      })
      return Requesters.of({ current })
    })
  )
}
