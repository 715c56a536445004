import { Effect } from "effect"
import { type Foreign, idOf } from "../../../services/federation/documents/ForeignValues.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import * as LocalIds from "../../../services/federation/LocalIds.ts"
import { Relays } from "../../../services/federation/relays/Relays.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { done, ignored, type Outcome } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Sending from "../fanout/Sending.ts"

/**
 * Handles relays: a relay accepts or rejects the server's follow, and follows it back. The instance actor deals only
 * with relays.
 */
export const make = Effect.gen(function*() {
  const relays = yield* Relays
  const send = yield* Sending.make
  const us = LocalIds.instanceActor(yield* ServerConfig)

  /** Handles an Accept or Reject of a follow of a relay; returns undefined for other follows. */
  const settled = (own: Ownership, activity: Foreign, type: "Accept" | "Reject") =>
    Effect.map(
      relays.settled(own.accountId, type, idOf(activity["object"]) ?? ""),
      (isRelay) => isRelay ? done : undefined
    )

  const followed = (own: Ownership, self: InboundSender, activity: Foreign): Outcome =>
    idOf(activity["object"]) !== us
      ? ignored("no local recipient")
      : Effect.flatMap(
        relays.followedBack(own.accountId, self.uri, idOf(activity) ?? ""),
        (hosts) => hosts === undefined ? ignored("no local recipient") : Effect.as(send(Effect.succeed(hosts)), done)
      )
  return { settled, followed }
})
