import { type Foreign, idOf, typeOf } from "../documents/Reading.ts"

/** How an activity is known, for telling what comes again. */
interface ActivityKey {
  /** The id it goes by; undefined where its whole text is what it is known by. */
  readonly uri: string | undefined
  /** Whether it may have its effect once more where it is signed later than before, and than its Undo. */
  readonly repeats: boolean
}

/**
 * Activities that other servers send again under an id that they used before, and from whom. Doing one twice changes
 * nothing, so that a repeated try costs nothing either. For others (Create, Delete, Flag, Move) the object's own id
 * says whether it is new.
 */
export const reused = {
  Accept: "Mastodon (`#accepts/follows/` for all follows of an account), Hollo, snac",
  Add: "Mastodon, which gives pins no id at all",
  Announce: "Hollo and snac boost a post under the same id each time",
  Block: "Hollo and snac",
  EmojiReact: "servers whose ids are made of the post and the emoji, or that give none",
  Follow: "Misskey follows somebody under the same id however often; snac",
  Like: "Hollo and snac",
  Reject: "Mastodon (`#rejects/follows/` for all follows of an account)",
  Remove: "Mastodon, as Add",
  Undo: "whoever reuses the id of what is undone"
} as const

/**
 * What an activity of `sender` is known by. An id of another server is none of the sender's to give. Some servers give all
 * edits of a post one id (GoToSocial: `…/activity#Update`) or two within a second (Mastodon: `#updates/SECONDS`), so that an
 * Update is known by what it says; one that only names its object says nothing. Pins of Mastodon have no id, and Misskey
 * follows under the same one however often.
 */
export const knownBy = (activity: Foreign, sender: string): ActivityKey => {
  const id = idOf(activity)
  const uri = id !== undefined && URL.parse(id)?.origin === URL.parse(sender)?.origin ? id : undefined
  if (typeOf(activity, "Update") !== undefined) {
    return { uri: undefined, repeats: typeof activity["object"] === "string" }
  }
  const repeats = typeOf(activity, ...Object.keys(reused)) !== undefined
  return { uri, repeats }
}
