import { Effect } from "effect"
import type { ForeignNote } from "../../../services/federation/documents/ForeignNote.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import type { NamedStatus } from "../../../services/federation/inbox/KnownUris.ts"
import { InteractionActivities } from "../../../services/federation/outbox/InteractionActivities.ts"
import * as Gates from "../core/Gates.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Sending from "../fanout/Sending.ts"
import * as Controlling from "../verbs/Controlling.ts"

/** Result for a post that is not a reply, or that anyone may reply to. */
const free: Gates.Consent = { agreement: "free" }

/** Checks and stores the approval of a remote account's replies; inside a transaction of its actor. */
export const make = Effect.gen(function*() {
  const activities = yield* InteractionActivities
  const control = yield* Controlling.make
  const gates = yield* Gates.make
  const send = yield* Sending.make

  return {
    /** Decides on a reply; undefined if the author of `parent` does not agree. A local author then sends a refusal. */
    consent: Effect.fnUntraced(function*(
      own: Ownership,
      self: InboundSender,
      parent: NamedStatus | undefined,
      note: ForeignNote,
      requested: Controlling.SentInteraction | undefined
    ) {
      if (parent === undefined) return free
      const consent = yield* gates.consent(own.accountId, parent, note, requested !== undefined)
      if (consent !== undefined || !parent.local) return consent
      yield* send(activities.refuse(parent.accountId, own.accountId, {
        kind: "reply",
        request: requested?.requestUri,
        requester: self.uri,
        object: note.inReplyTo ?? "",
        instrument: note.uri
      }))
      return undefined
    }),
    /** Records the approval of a stored reply, or holds the reply. Returns true if it is held. */
    attach: Effect.fnUntraced(function*(
      own: Ownership,
      parent: NamedStatus | undefined,
      { agreement, claimed }: Gates.Consent,
      statusId: bigint,
      sent: Controlling.SentInteraction
    ) {
      if (parent === undefined || agreement === "free") return false
      yield* control.attach(own, parent, "reply", agreement, statusId, sent, claimed)
      return agreement === "asks"
    }),
    holdAgain: control.holdAgain
  }
})
