import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { ForeignPoll } from "../../../services/federation/documents/ForeignPoll.ts"
import { asText, type Foreign, idOf, idsOf, typeOf } from "../../../services/federation/documents/ForeignValues.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { RemotePolls } from "../../../services/federation/inbox/RemotePolls.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import { Polls } from "../../../services/statuses/Polls.ts"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import type { Ownership } from "../core/Ownership.ts"

/** Handles a remote account's votes in local polls, and updates of its own polls; inside a transaction of its actor. */
export const make = Effect.gen(function*() {
  const agenda = yield* AgendaEntries
  const polls = yield* Polls
  const knownUris = yield* KnownUris
  const remote = yield* RemotePolls
  const statusTargets = yield* StatusTargets

  /**
   * Casts the vote of a note with a name that replies to a local poll; a vote is never stored as a post (S-013, row
   * 19). Undefined if the note is not a vote: a note with text may have a name that is not an option.
   */
  const vote = Effect.fnUntraced(
    function*(
      own: Ownership,
      self: InboundSender,
      note: Foreign
    ): Effect.fn.Return<string | undefined, ClientError | SqlError> {
      const { name } = note
      if (typeof name !== "string" || typeOf(note, "Note") === undefined) return undefined
      const statusId = yield* knownUris.status(idOf(note["inReplyTo"]) ?? "")
      const options = statusId === undefined ? undefined : yield* polls.options(statusId)
      if (statusId === undefined || options === undefined) return undefined
      const choice = options.indexOf(name)
      if (choice < 0 && asText(note["content"], 1)) return undefined
      if (!idsOf(note["attributedTo"]).includes(self.uri)) return "ignored: not a vote of the sender"
      const target = yield* statusTargets.visible(own.accountId, statusId)
      yield* polls.cast(target.id, target.accountId, own.accountId, choice)
      return "done"
    }
  )

  const schedulePollEnd = (
    own: Ownership,
    statusId: bigint,
    { endsMillis }: ForeignPoll,
    { voted }: { voted: boolean }
  ) =>
    voted && endsMillis !== undefined
      ? agenda.enqueue("poll_end", statusId, own.accountId, endsMillis)
      : Effect.void

  /** Updates the results of the account's own poll; false if the options differ from the stored poll. */
  const tally = Effect.fnUntraced(function*(own: Ownership, statusId: bigint, poll: ForeignPoll) {
    const counted = yield* remote.tally(statusId, poll)
    if (counted === undefined) return false
    yield* schedulePollEnd(own, statusId, poll, counted)
    return true
  })

  /** Applies an edit to the account's own poll. */
  const revise = Effect.fnUntraced(function*(own: Ownership, statusId: bigint, poll: ForeignPoll | undefined) {
    const revised = yield* remote.revise(statusId, poll)
    if (poll !== undefined) yield* schedulePollEnd(own, statusId, poll, revised)
  })

  return { vote, tally, revise }
})
