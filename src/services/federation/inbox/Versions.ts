import { Schema, Struct } from "effect"
import { Timestamptz } from "../../database/Rows.ts"
import { StoredStatus } from "../../statuses/StoredStatus.ts"
import { writtenFields } from "../../statuses/Written.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"

/** Fields that distinguish versions of a post within one second. */
const Content = StoredStatus.mapFields(Struct.pick(["html", ...writtenFields])).mapFields(Struct.omit(["language"]))
const isSame = Schema.toEquivalence(Content)

/** Stored version of a post, and when it was created. */
export const Version = Schema.Struct({ ...Content.fields, id: Schema.BigInt, changedAt: Timestamptz })
export type Version = typeof Version.Type

/** Returns true if a document's date is that of the stored version; many servers omit fractions of seconds. */
export const isCurrent = ({ updatedMillis }: ForeignNote, { changedAt }: Version): boolean => {
  const newest = changedAt.getTime()
  return updatedMillis === undefined || updatedMillis === newest || updatedMillis === newest - newest % 1_000
}

/**
 * Returns when a post's current version was made, in milliseconds since 1970; undefined if it is not newer. Within one
 * second, the last version that arrives counts if its content differs.
 */
export const editMillis = (note: ForeignNote, old: Version): number | undefined => {
  const { updatedMillis } = note
  const newest = old.changedAt.getTime()
  if (updatedMillis === undefined || updatedMillis > newest) return updatedMillis
  return !isSame(note, old) && isCurrent(note, old) ? newest + 1 : undefined
}
