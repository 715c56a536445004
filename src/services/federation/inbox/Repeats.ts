import { type Foreign, idOf, typeOf } from "../documents/Reading.ts"

/** How an activity is known, for telling what comes again. */
export interface Known {
  /** The id it goes by; undefined where its whole text is what it is known by. */
  readonly uri: string | undefined
  /** Whether it may have its effect once more where it is signed later than before, and than whatever ended it. */
  readonly repeats: boolean
}

/** Of these there may be several under one id or without any; doing one again while it stands changes nothing. */
const repeating = ["Add", "Follow", "Remove"] as const
/** The same, of what has no id. */
const nameless = ["Block", "EmojiReact", "Like", "Undo"] as const

/**
 * What an activity of `sender` is known by. An id of another server is none of the sender's to give. Some servers give all
 * edits of a post one id (GoToSocial: `…/activity#Update`) or two within a second (Mastodon: `#updates/SECONDS`), so that an
 * Update is known by what it says; one that only names its object says nothing. Pins of Mastodon have no id, and Misskey
 * follows under the same one however often.
 */
export const knownBy = (activity: Foreign, sender: string): Known => {
  const id = idOf(activity)
  const uri = id !== undefined && URL.parse(id)?.origin === URL.parse(sender)?.origin ? id : undefined
  if (typeOf(activity, "Update") !== undefined) {
    return { uri: undefined, repeats: typeof activity["object"] === "string" }
  }
  const repeats = typeOf(activity, ...repeating, ...(uri === undefined ? nameless : [])) !== undefined
  return { uri, repeats }
}
