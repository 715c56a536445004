import { asForeign, asList, type Foreign, idOf } from "./Reading.ts"

/* The posts that an activity brings along. Policies see posts by `postsIn` and change them by `withPosts`, and by nothing else. */

/** Fields that may hold a document in place of its id. */
export const carryingFields = ["object", "instrument", "target", "result"] as const

/** How many documents one activity may nest; handlers read two. What is nested deeper is cut to its id. */
const nestedMax = 3

const mapped = (document: Foreign, change: (carried: Foreign) => Foreign, depth: number): Foreign => {
  const changed = carryingFields.flatMap((field) => {
    const value = document[field]
    const carried = Array.isArray(value) ? changedList(value, change, depth) : changedValue(value, change, depth)
    return carried === value ? [] : [[field, carried] as const]
  })
  return changed.length === 0 ? document : { ...document, ...Object.fromEntries(changed) }
}

const changedValue = (value: unknown, change: (carried: Foreign) => Foreign, depth: number): unknown => {
  const document = asForeign(value)
  if (document === undefined) return value
  if (depth > nestedMax) return idOf(value) ?? null
  const next = change(mapped(document, change, depth + 1))
  return next === document ? value : next
}

const changedList = (values: ReadonlyArray<unknown>, change: (carried: Foreign) => Foreign, depth: number) => {
  const next = asList(values).map((value) => changedValue(value, change, depth))
  return next.every((value, place) => value === values[place]) ? values : next
}

/**
 * Changes every document that an activity carries, whatever the type of either; inner ones first. Returns the same
 * activity where nothing changes.
 */
export const withPosts = (activity: Foreign, change: (carried: Foreign) => Foreign): Foreign =>
  mapped(activity, change, 1)

/** Every document that an activity carries, whatever the type of either. */
export const postsIn = (activity: Foreign): ReadonlyArray<Foreign> => {
  const found: Array<Foreign> = []
  withPosts(activity, (carried) => {
    found.push(carried)
    return carried
  })
  return found
}
