import { activityTypeOf, hasTrait } from "../documents/ActivityTypes.ts"
import { isReference } from "../documents/Envelopes.ts"
import { type Foreign, idOf } from "../documents/ForeignValues.ts"

/** Key by which repeated activities are recognised. */
interface ActivityKey {
  /** Id of the activity; undefined if the whole text is its key. */
  readonly uri: string | undefined
  /** True if it may have an effect again when it is signed later than before, and later than its Undo. */
  readonly repeats: boolean
}

/**
 * Returns the key of an activity of `sender`. An id of another origin is ignored. Some servers give all edits of a post
 * one id (GoToSocial: `…/activity#Update`), or two within a second (Mastodon: `#updates/SECONDS`). An Update is
 * therefore known by its text, and repeats if that only names its object. Mastodon's pins have no id, and Misskey
 * follows an account under the same id each time.
 */
export const knownBy = (activity: Foreign, sender: string): ActivityKey => {
  const id = idOf(activity)
  const uri = id !== undefined && URL.parse(id)?.origin === URL.parse(sender)?.origin ? id : undefined
  const type = activityTypeOf(activity)
  if (type === "Update") return { uri: undefined, repeats: isReference(activity["object"]) }
  return { uri, repeats: type !== undefined && hasTrait(type, "reused") }
}
