import { Effect } from "effect"
import { FollowerDigests } from "../../services/federation/FollowerDigests.ts"
import type { Delivery } from "../../services/federation/outbox/Deliveries.ts"
import { instanceSender } from "../../services/federation/outbox/Outbox.ts"
import { mayRetry } from "../../services/federation/outbox/Retries.ts"
import { type Scheme, Signatures } from "../../services/federation/signatures/Signatures.ts"
import { type OwnKey, SigningKeys } from "../../services/federation/SigningKeys.ts"
import * as Gate from "../../services/outbound/Gate.ts"
import { Outbound, type Reply } from "../../services/outbound/Outbound.ts"
import type { OutboundError } from "../../services/outbound/OutboundError.ts"

/** Outcome of a delivery attempt. */
export type Verdict =
  /** The host accepted the delivery, signed by this scheme. */
  | { readonly _tag: "Taken"; readonly scheme: Scheme }
  /** The host works, but will never accept the delivery. */
  | { readonly _tag: "Refused"; readonly why: string }
  /** The inbox no longer exists. */
  | { readonly _tag: "Gone" }
  /** A retry may succeed. `down`: the host does not work; `waitSeconds`: the delay it asks for. */
  | { readonly _tag: "Failed"; readonly why: string; readonly down: boolean; readonly waitSeconds?: number }

/**
 * Maximum concurrent signatures of deliveries per node, so that interactive work does not queue behind thousands of
 * them.
 */
const signingMax = 2
const ofContent = { "content-type": "application/activity+json" }
/** Maximum stored characters of a host's response. */
const whyCharactersMax = 200

const excerptOf = ({ status, text }: Reply) =>
  `${status} ${text.replaceAll("\0", "").slice(0, whyCharactersMax)}`.trim().toWellFormed()

const verdictOf = (reply: Reply, scheme: Scheme): Verdict => {
  const { retryAfterSeconds, status } = reply
  if (status >= 200 && status < 300) return { _tag: "Taken", scheme }
  if (status === 410) return { _tag: "Gone" }
  if (!mayRetry(status)) return { _tag: "Refused", why: excerptOf(reply) }
  const asked = retryAfterSeconds === undefined || (status !== 429 && status !== 503)
    ? {}
    : { waitSeconds: retryAfterSeconds }
  return { _tag: "Failed", why: excerptOf(reply), down: status !== 401, ...asked }
}

/**
 * Attempts a delivery, signed by its sender: first in the scheme that the host is known to accept, or draft-cavage. On
 * a 400 or 401 the other scheme is tried once (federation.md section 5).
 */
export const make = Effect.gen(function*() {
  const digests = yield* FollowerDigests
  const keys = yield* SigningKeys
  const outbound = yield* Outbound
  const signatures = yield* Signatures
  const signing = Gate.make(signingMax)

  /**
   * Returns the header that tells the host which of its accounts follow the sender, so that it can correct differences.
   */
  const synchronization = Effect.fnUntraced(function*({ actorPath, senderId, url }: Delivery) {
    if (actorPath === null) return undefined
    const header = yield* Effect.orElseSucceed(
      digests.header({ actorPath, id: senderId }, new URL(url).host),
      () => undefined
    )
    return header === undefined ? undefined : { "collection-synchronization": header }
  })

  const send = Effect.fnUntraced(function*(delivery: Delivery, key: OwnKey, scheme: Scheme) {
    const { body, url } = delivery
    const more = delivery.synchronizes ? yield* synchronization(delivery) : undefined
    const headers = more === undefined ? ofContent : { ...ofContent, ...more }
    return yield* outbound.post({
      url,
      headers: {},
      body,
      sign: (url) => signing.within(signatures.sign(scheme, key, { method: "POST", url, headers, body }))
    })
  })

  const attempt = Effect.fnUntraced(function*(delivery: Delivery) {
    const { actorPath, scheme, senderId } = delivery
    if (senderId !== instanceSender && actorPath === null) {
      return { _tag: "Refused", why: "its sender was deleted" } satisfies Verdict
    }
    const [key] = actorPath === null ? yield* keys.ofInstance : yield* keys.ofAccount({ actorPath, id: senderId })
    const first = scheme ?? "draft-cavage"
    const reply = yield* send(delivery, key, first)
    if (reply.status !== 400 && reply.status !== 401) return verdictOf(reply, first)
    const other = first === "draft-cavage" ? "rfc9421" : "draft-cavage"
    const verdict = yield* withRefusals(Effect.map(send(delivery, key, other), (second) => verdictOf(second, other)))
    return afterBoth({ scheme: first, why: excerptOf(reply) }, other, verdict)
  })

  return (delivery: Delivery): Effect.Effect<Verdict> => withRefusals(attempt(delivery))
})

const withRefusals = (attempt: Effect.Effect<Verdict, OutboundError>): Effect.Effect<Verdict> =>
  Effect.catchTags(attempt, {
    Refused: (refused) => Effect.succeed<Verdict>({ _tag: "Refused", why: refused.message }),
    Unreachable: ({ why }) => Effect.succeed<Verdict>({ _tag: "Failed", why, down: true })
  })

/**
 * Adds the first refusal to the second: a host that does not support a scheme gives its real reason only for the other
 * one.
 */
const afterBoth = (
  first: { readonly scheme: Scheme; readonly why: string },
  other: Scheme,
  verdict: Verdict
): Verdict =>
  verdict._tag === "Taken" || verdict._tag === "Gone"
    ? verdict
    : { ...verdict, why: `signed by ${first.scheme}: ${first.why}; by ${other}: ${verdict.why}` }
