import { Effect } from "effect"
import type { ForeignNote } from "../../services/federation/documents/ForeignNote.ts"
import { isEverybody } from "../../services/federation/documents/Vocabulary.ts"
import type { InboundSender } from "../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../services/federation/inbox/KnownUris.ts"
import { isOpen } from "../../services/statuses/Visibility.ts"
import type { Ownership } from "./Ownership.ts"

/** What a post may be addressed to beside accounts. */
const isForAll = (uri: string, { followersUrl }: InboundSender) => isEverybody(uri) || uri === followersUrl

/** The accounts that a post mentions, and whether it is addressed to them; made once a node. */
export const make = Effect.gen(function*() {
  const knownUris = yield* KnownUris

  return Effect.fnUntraced(function*(own: Ownership, self: InboundSender, note: ForeignNote) {
    const addressed = new Set(note.addressed)
    // Most posts are for everybody and the followers, who are no accounts.
    const people = [...new Set([...note.mentioned, ...note.addressed])].filter((uri) => !isForAll(uri, self))
    const named = yield* knownUris.accounts(people)
    const uris = Map.groupBy(named, ([, id]) => id)
    return [...uris].flatMap(([id, spellings]) => {
      const quiet = !spellings.some(([uri]) => note.mentioned.includes(uri))
      // A post for a few belongs to all whom it addresses; those whom it does not mention are not notified.
      const counts = !quiet || !isOpen(note.visibility)
      return counts && id !== own.accountId
        ? [{ id, quiet, addressed: spellings.some(([uri]) => addressed.has(uri)) }]
        : []
    })
  })
})
