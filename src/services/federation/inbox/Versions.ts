import { Schema, Struct } from "effect"
import { Timestamptz } from "../../Rows.ts"
import { StoredStatus } from "../../statuses/StoredStatus.ts"
import { writtenFields } from "../../statuses/Written.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"

/** What of a post tells one version from another of the same second. */
const Content = StoredStatus.mapFields(Struct.pick(["html", ...writtenFields])).mapFields(Struct.omit(["language"]))
const isSame = Schema.toEquivalence(Content)

/** A post as it is here, and when it became that. */
export const Version = Schema.Struct({ ...Content.fields, id: Schema.BigInt, changedAt: Timestamptz })
export type Version = typeof Version.Type

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
  const { updatedMillis } = note
  const newest = old.changedAt.getTime()
  if (updatedMillis === undefined || updatedMillis > newest) return updatedMillis
  return !isSame(note, old) && isCurrent(note, old) ? newest + 1 : undefined
}
