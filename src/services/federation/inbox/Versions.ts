import type { ForeignNote } from "../documents/ForeignNote.ts"

/** A post as it is here. */
export interface Version {
  readonly changedAt: Date
  readonly html: string
  readonly spoilerText: string
  readonly sensitive: boolean
}

/** Whether a post is stated as it is here, as far as its date tells; many servers write no fractions of seconds. */
export const isCurrent = ({ updatedMillis }: ForeignNote, { changedAt }: Version): boolean => {
  const newest = changedAt.getTime()
  return updatedMillis === undefined || updatedMillis === newest || updatedMillis === newest - newest % 1_000
}

/**
 * When a post became what it is now, in milliseconds since 1970; undefined where that is no newer version. Of what was
 * changed within a second, the last that came counts where it says something else.
 */
export const editMillis = (note: ForeignNote, old: Version): number | undefined => {
  const { html, sensitive, spoilerText, updatedMillis } = note
  const newest = old.changedAt.getTime()
  if (updatedMillis === undefined || updatedMillis > newest) return updatedMillis
  const differs = html !== old.html || spoilerText !== old.spoilerText || sensitive !== old.sensitive
  return differs && isCurrent(note, old) ? newest + 1 : undefined
}
