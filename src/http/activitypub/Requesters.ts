import { Context, Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { hostsOf } from "../../services/federation/domains/DomainAccounts.ts"
import { DomainPolicies } from "../../services/federation/domains/DomainPolicies.ts"
import { policyOfAll } from "../../services/federation/domains/DomainPolicy.ts"
import { Senders } from "../../services/federation/Senders.ts"
import type { SignedRequest } from "../../services/federation/signatures/SignedRequest.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { NotAllowed, Unavailable } from "../../services/runtime/Errors.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import { sentTarget } from "../guard/PlainUrls.ts"

/**
 * Scope in which a response may be cached: by everybody, or by nobody because it depends on the signature or on the
 * token of the request.
 */
export type CacheScope = "everybody" | "signer" | "bearer"

/** Requester of a document, and the cache scope of the response. */
interface Requester {
  readonly viewer: Viewer
  readonly scope: CacheScope
  /** Reason why a signature does not count; undefined if it is valid or the request is unsigned. */
  readonly refusal?: NotSigned | Unavailable
}

/** Maximum seconds that a request for a public document waits for its signer's key. */
const keySecondsMax = 5

/** A missing or invalid signature, with the reason that other servers' operators look for. */
export class NotSigned extends Schema.TaggedError<NotSigned>()("NotSigned", {
  text: Schema.String,
  malformed: Schema.Boolean
}) {
  override get message() {
    return this.text
  }
}

/** Returns the parts of a request that its signature may cover. */
export const signedRequest = (request: HttpServerRequest.HttpServerRequest, body: Uint8Array): SignedRequest => {
  const { headers, method, originalUrl } = request
  return { method, target: sentTarget(originalUrl), headers, body, address: addressOf(request) }
}

/**
 * Identifies the server that requests a document. A signed request sees what its account may see. An unsigned one sees
 * public documents, and nothing in secure or restricted mode (S-024). A signature that cannot be verified counts as
 * absent. A signer that is suspended here, or whose domain is, sees nothing.
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
