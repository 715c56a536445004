import { Effect } from "effect"
import type { ForeignNote } from "../../services/federation/documents/ForeignNote.ts"
import type { InboundSender } from "../../services/federation/inbox/InboundSender.ts"
import type { NamedStatus } from "../../services/federation/inbox/KnownUris.ts"
import { InteractionActivities } from "../../services/federation/outbox/InteractionActivities.ts"
import * as Controlling from "./Controlling.ts"
import * as Gates from "./Gates.ts"
import type { Ownership } from "./Ownership.ts"
import * as Sending from "./Sending.ts"

/** What answers nothing, or what everybody may answer. */
const free: Gates.Answer = { agreement: "free" }

/** Replies of a remote account, as far as those whom they answer agree; inside a transaction of its actor. */
export const make = Effect.gen(function*() {
  const activities = yield* InteractionActivities
  const control = yield* Controlling.make
  const gates = yield* Gates.make
  const send = yield* Sending.make

  return {
    /** What becomes of a reply; undefined where the author of `parent` does not agree, who says so where that is somebody here. */
    answer: Effect.fnUntraced(function*(
      own: Ownership,
      self: InboundSender,
      parent: NamedStatus | undefined,
      note: ForeignNote,
      requested: Controlling.SentInteraction | undefined
    ) {
      if (parent === undefined) return free
      const answer = yield* gates.answer(own.accountId, parent, note, requested !== undefined)
      if (answer !== undefined || !parent.local) return answer
      yield* send(activities.refuse(parent.accountId, own.accountId, {
        kind: "reply",
        request: requested?.requestUri,
        requester: self.uri,
        object: note.inReplyTo ?? "",
        instrument: note.uri
      }))
      return undefined
    }),
    /** Writes down what was agreed to, or has a reply wait that was just stored; answers whether it waits. */
    attach: Effect.fnUntraced(function*(
      own: Ownership,
      parent: NamedStatus | undefined,
      { agreement, claimed }: Gates.Answer,
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
