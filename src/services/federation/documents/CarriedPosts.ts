import { asForeign, asList, type Foreign, idOf } from "./ForeignValues.ts"

/* Posts embedded in activities. Policies read them only with `postsIn` and change them only with `withPosts`. */

/** Fields that may hold a document in place of its id. */
export const carryingFields = ["object", "instrument", "target", "result"] as const

/** Maximum nesting of documents in an activity; handlers read two levels. Deeper documents are cut to their ids. */
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
 * Changes every document embedded in an activity, of any type, innermost first. Returns the same activity if nothing
 * changes.
 */
export const withPosts = (activity: Foreign, change: (carried: Foreign) => Foreign): Foreign =>
  mapped(activity, change, 1)

/** Returns every document embedded in an activity, of any type. */
export const postsIn = (activity: Foreign): ReadonlyArray<Foreign> => {
  const found: Array<Foreign> = []
  withPosts(activity, (carried) => {
    found.push(carried)
    return carried
  })
  return found
}
