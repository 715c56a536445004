import { Effect, Layer } from "effect"
import { AutoClosing } from "../../services/identity/AutoClosing.ts"
import { NewMembers } from "../../services/identity/NewMembers.ts"
import { AccountActors } from "../account/core/AccountActors.ts"
import { repeatEvery } from "./ClaimRounds.ts"

/**
 * Welcomes new members that can sign in: they follow their inviter and get an e-mail. Closes registrations that no
 * moderator watches. Runs on any node.
 */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const actors = yield* AccountActors
  const closing = yield* AutoClosing
  const members = yield* NewMembers
  const greeted = Effect.gen(function*() {
    for (const member of yield* members.due) {
      const { accountId, follows: target } = member
      if (target !== null) {
        const follow = { _tag: "Follow", target, reblogs: null, notify: null, languages: null } as const
        // The inviter may have been deleted.
        yield* Effect.ignore(actors.tell(accountId, follow))
      }
      yield* members.welcome(member)
    }
  })
  yield* repeatEvery("5 seconds", "new members", greeted)
  yield* repeatEvery("1 hour", "closing unwatched registrations", closing.run)
}))
