import { carryingFields } from "./CarriedPosts.ts"
import { asForeign, type Foreign, idOf, single } from "./Reading.ts"

/* The forms in which servers write one and the same activity, brought into one. */

/** Fields of an object that is named only in part: they say which one it is, and nothing that it says itself. */
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
 * An object with the audience of the activity that carries it, as far as it says none itself: some servers address the
 * activity alone (ActivityPub section 6.2). It is for nobody whom neither names.
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
  const whole = document["attributedTo"] === undefined ? document : addressedBy(envelope, document)
  return unfolded(whole)
}

const unfolded = (activity: Foreign): Foreign => {
  const fields = carryingFields.filter((field) => activity[field] !== undefined)
  return {
    ...activity,
    ...Object.fromEntries(fields.map((field) => [field, carried(activity, single(activity[field]))]))
  }
}

/**
 * The activity in a JSON value, in the one form that policies and handlers read: a list of one is its member, an object
 * that is only named is its id, and a post that names no audience has that of its activity. Undefined for anything that
 * is no JSON object.
 */
export const asActivity = (value: unknown): Foreign | undefined => {
  const activity = asForeign(value)
  return activity && unfolded(activity)
}

/** Returns true for activities that have an audience of their own. */
export const isAddressed = (activity: Foreign): boolean =>
  ["to", "cc", "bto", "bcc", "audience"].some((field) => activity[field] !== undefined)
