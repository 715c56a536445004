import type { Visibility } from "../../statuses/Visibility.ts"
import * as LocalIds from "../LocalIds.ts"
import { isPublicCollection, publicCollection } from "./Vocabulary.ts"

/** `to` and `cc` of an object. */
interface Addressing {
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
}

/** Returns `to` and `cc` for a status of `actor` (federation.md section 10); `mentioned` are ids of actors. */
export const addressing = (
  visibility: Visibility,
  actor: string,
  mentioned: ReadonlyArray<string>
): Addressing => {
  const followers = LocalIds.followers(actor)
  switch (visibility) {
    case "public":
      return { to: [publicCollection], cc: [followers, ...mentioned] }
    case "unlisted":
      return { to: [followers], cc: [publicCollection, ...mentioned] }
    case "private":
      return { to: [followers], cc: mentioned }
    case "direct":
      return { to: mentioned, cc: [] }
  }
}

/**
 * Derives a visibility from a remote object's addressing. `followers` is the author's collection, from its document.
 */
export const visibilityOf = ({ cc, to }: Addressing, followers: string | undefined): Visibility => {
  if (to.some(isPublicCollection)) return "public"
  if (cc.some(isPublicCollection)) return "unlisted"
  return followers !== undefined && [...to, ...cc].includes(followers) ? "private" : "direct"
}
