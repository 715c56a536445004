import { Effect } from "effect"
import type { ForeignNote } from "../../../services/federation/documents/ForeignNote.ts"
import { isPublicCollection } from "../../../services/federation/documents/Vocabulary.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { isPublicOrUnlisted } from "../../../services/statuses/Visibility.ts"
import type { Ownership } from "../core/Ownership.ts"

/** Returns true for addressees that are not single accounts: the public, or the sender's followers. */
const isForAll = (uri: string, { followersUrl }: InboundSender) => isPublicCollection(uri) || uri === followersUrl

/** Builds the reader of a post's mentioned accounts, each with whether it is addressed; once per node. */
export const make = Effect.gen(function*() {
  const knownUris = yield* KnownUris

  return Effect.fnUntraced(function*(own: Ownership, self: InboundSender, note: ForeignNote) {
    const addressed = new Set(note.addressed)
    // Most posts are addressed only to the public and to followers, so no lookup is needed.
    const people = [...new Set([...note.mentioned, ...note.addressed])].filter((uri) => !isForAll(uri, self))
    const named = yield* knownUris.accounts(people)
    const uris = Map.groupBy(named, ([, id]) => id)
    return [...uris].flatMap(([id, spellings]) => {
      const quiet = !spellings.some(([uri]) => note.mentioned.includes(uri))
      // A post that is not open belongs to all addressed accounts; those that are not mentioned are not notified.
      const counts = !quiet || !isPublicOrUnlisted(note.visibility)
      return counts && id !== own.accountId
        ? [{ id, quiet, addressed: spellings.some(([uri]) => addressed.has(uri)) }]
        : []
    })
  })
})
