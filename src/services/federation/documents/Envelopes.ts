import { carryingFields } from "./CarriedPosts.ts"
import { asForeign, type Foreign, idOf, single } from "./ForeignValues.ts"

/* Normalises the forms in which servers write the same activity. */

/** Fields that only identify an object; an object with no other field is a reference. */
const namingFields = new Set(["@context", "actor", "attributedTo", "cc", "href", "id", "to", "type", "url"])

/** Returns true for a value that only names an object: its id, or an object without content. */
export const isReference = (value: unknown): boolean => {
  const named = single(value)
  const document = asForeign(named)
  return typeof named === "string" ||
    (document !== undefined && idOf(document) !== undefined &&
      Object.keys(document).every((field) => namingFields.has(field)))
}

/**
 * Returns an object with its activity's audience where it has none of its own: some servers address only the activity
 * (ActivityPub section 6.2). Without either, it has no audience.
 */
export const addressedBy = (envelope: Foreign, object: Foreign): Foreign => {
  const lacking = (["to", "cc"] as const).filter((field) =>
    object[field] === undefined && envelope[field] !== undefined
  )
  return lacking.length === 0
    ? object
    : { ...object, ...Object.fromEntries(lacking.map((field) => [field, envelope[field]])) }
}

const carried = (envelope: Foreign, value: unknown): unknown => {
  if (Array.isArray(value)) return value
  if (isReference(value)) return idOf(value)
  const document = asForeign(value)
  if (document === undefined) return value
  const addressed = document["attributedTo"] === undefined ? document : addressedBy(envelope, document)
  return unfolded(addressed)
}

const unfolded = (activity: Foreign): Foreign => {
  const fields = carryingFields.filter((field) => activity[field] !== undefined)
  return {
    ...activity,
    ...Object.fromEntries(fields.map((field) => [field, carried(activity, single(activity[field]))]))
  }
}

/**
 * Returns the activity in a JSON value, normalised for policies and handlers: a list of one becomes its member, a
 * reference becomes an id, and a post without an audience gets that of its activity. Returns undefined if the value is
 * not a JSON object.
 */
export const asActivity = (value: unknown): Foreign | undefined => {
  const activity = asForeign(value)
  return activity && unfolded(activity)
}

/** Returns true for activities with an audience of their own. */
export const isAddressed = (activity: Foreign): boolean =>
  ["to", "cc", "bto", "bcc", "audience"].some((field) => activity[field] !== undefined)
