import { Effect } from "effect"
import { StatusCards } from "../../../services/cards/StatusCards.ts"
import { firstLink, type StatusLink } from "../../../services/cards/StatusLinks.ts"
import { TaggedCollections } from "../../../services/collections/TaggedCollections.ts"
import type { ForeignNote } from "../../../services/federation/documents/ForeignNote.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import type { Draft } from "../../../services/statuses/Drafts.ts"

/** Links of a post that are shown as previews. */
interface Links {
  /** Link with a preview card; undefined if the post has files. */
  readonly link: StatusLink | undefined
  /** URLs that may be those of collections of accounts. */
  readonly collections: ReadonlyArray<string>
  readonly theirs: boolean
}

/** Returns true if there is anything to preview. */
export const isAny = ({ collections, link }: Links): boolean => link !== undefined || collections.length > 0

/** Preview cards and linked collections of posts, written in the post's transaction. */
export const make = Effect.gen(function*() {
  const cards = yield* StatusCards
  const config = yield* ServerConfig
  const tagged = yield* TaggedCollections

  return {
    ofDraft: ({ collections, link }: Draft, hasFiles: boolean): Links => ({
      link: hasFiles ? undefined : link,
      collections,
      theirs: false
    }),
    ofNote: ({ attachments, collections, links }: ForeignNote): Links => ({
      link: attachments.length === 0 ? firstLink(config, links) : undefined,
      collections,
      theirs: true
    }),
    attach: Effect.fnUntraced(function*(statusId: bigint, { collections, link, theirs }: Links) {
      if (link !== undefined) yield* cards.attach(statusId, link, theirs)
      yield* tagged.attach(statusId, collections, theirs)
    }),
    replace: Effect.fnUntraced(function*(statusId: bigint, { collections, link, theirs }: Links) {
      yield* cards.replace(statusId, link, theirs)
      yield* tagged.replace(statusId, collections, theirs)
    })
  }
})
