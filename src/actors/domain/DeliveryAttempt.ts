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

/** The outcome of one try. */
export type Verdict =
  /** The host has it; this is how it was signed. */
  | { readonly _tag: "Taken"; readonly scheme: Scheme }
  /** It will never be taken; the host is well. */
  | { readonly _tag: "Refused"; readonly why: string }
  /** There is no such inbox any more. */
  | { readonly _tag: "Gone" }
  /** Another try may go better. `down`: the host does not work; `waitSeconds` as it asks for. */
  | { readonly _tag: "Failed"; readonly why: string; readonly down: boolean; readonly waitSeconds?: number }

/** Signatures of deliveries that a node makes at once: what people wait for is not behind thousands of them. */
const signingMax = 2
const ofContent = { "content-type": "application/activity+json" }
/** Characters of what a host says that are kept. */
const whyCharactersMax = 200

const said = ({ status, text }: Reply) =>
  `${status} ${text.replaceAll("\0", "").slice(0, whyCharactersMax)}`.trim().toWellFormed()

const verdictOf = (reply: Reply, scheme: Scheme): Verdict => {
  const { retryAfterSeconds, status } = reply
  if (status >= 200 && status < 300) return { _tag: "Taken", scheme }
  if (status === 410) return { _tag: "Gone" }
  if (!mayRetry(status)) return { _tag: "Refused", why: said(reply) }
  const asked = retryAfterSeconds === undefined || (status !== 429 && status !== 503)
    ? {}
    : { waitSeconds: retryAfterSeconds }
  return { _tag: "Failed", why: said(reply), down: status !== 401, ...asked }
}

/**
 * One try of a delivery: signed by its sender, first as the host is known to like it, else as the fediverse began; where that
 * is refused as 400 or 401, once more in the other way (federation.md section 5).
 */
export const make = Effect.gen(function*() {
  const digests = yield* FollowerDigests
  const keys = yield* SigningKeys
  const outbound = yield* Outbound
  const signatures = yield* Signatures
  const signing = Gate.make(signingMax)

  /** Tells the host which of its people follow the sender, so that it can say where we are wrong. */
  const synchronization = Effect.fnUntraced(function*({ senderId, url, username }: Delivery) {
    if (username === null) return undefined
    const header = yield* Effect.orElseSucceed(
      digests.header({ id: senderId, username }, new URL(url).host),
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
    const { scheme, senderId, username } = delivery
    if (senderId !== instanceSender && username === null) {
      return { _tag: "Refused", why: "its sender is gone" } satisfies Verdict
    }
    const key = username === null ? yield* keys.ofInstance : yield* keys.ofAccount({ id: senderId, username })
    const first = scheme ?? "draft-cavage"
    const reply = yield* send(delivery, key, first)
    if (reply.status !== 400 && reply.status !== 401) return verdictOf(reply, first)
    const other = first === "draft-cavage" ? "rfc9421" : "draft-cavage"
    const verdict = yield* settled(Effect.map(send(delivery, key, other), (second) => verdictOf(second, other)))
    return afterBoth({ scheme: first, why: said(reply) }, other, verdict)
  })

  return (delivery: Delivery): Effect.Effect<Verdict> => settled(attempt(delivery))
})

const settled = (attempt: Effect.Effect<Verdict, OutboundError>): Effect.Effect<Verdict> =>
  Effect.catchTags(attempt, {
    Refused: (refused) => Effect.succeed<Verdict>({ _tag: "Refused", why: refused.message }),
    Unreachable: ({ reason }) => Effect.succeed<Verdict>({ _tag: "Failed", why: reason, down: true })
  })

/** Adds the first refusal to a second one: a host that does not know a scheme gives its reason in the other one alone. */
const afterBoth = (
  first: { readonly scheme: Scheme; readonly why: string },
  other: Scheme,
  verdict: Verdict
): Verdict =>
  verdict._tag === "Taken" || verdict._tag === "Gone"
    ? verdict
    : { ...verdict, why: `signed by ${first.scheme}: ${first.why}; by ${other}: ${verdict.why}` }
