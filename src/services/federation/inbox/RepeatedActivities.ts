import { activityTypeOf, hasTrait } from "../documents/ActivityTypes.ts"
import { isReference } from "../documents/Envelopes.ts"
import { type Foreign, idOf } from "../documents/Reading.ts"

/** How an activity is known, for telling what comes again. */
interface ActivityKey {
  /** The id it goes by; undefined where its whole text is what it is known by. */
  readonly uri: string | undefined
  /** Whether it may have its effect once more where it is signed later than before, and than its Undo. */
  readonly repeats: boolean
}

/**
 * What an activity of `sender` is known by. An id of another server is none of the sender's to give. Some servers give all
 * edits of a post one id (GoToSocial: `…/activity#Update`) or two within a second (Mastodon: `#updates/SECONDS`), so that an
 * Update is known by what it says; one that only names its object says nothing. Pins of Mastodon have no id, and Misskey
 * follows under the same one however often.
 */
export const knownBy = (activity: Foreign, sender: string): ActivityKey => {
  const id = idOf(activity)
  const uri = id !== undefined && URL.parse(id)?.origin === URL.parse(sender)?.origin ? id : undefined
  const type = activityTypeOf(activity)
  if (type === "Update") return { uri: undefined, repeats: isReference(activity["object"]) }
  return { uri, repeats: type !== undefined && hasTrait(type, "reused") }
}
