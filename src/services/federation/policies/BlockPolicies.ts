import { asForeign, asList, type Foreign, idOf, typeOf } from "../documents/Reading.ts"
import { accept, change, drop, type InboundPolicy } from "./InboundPolicy.ts"

/** An author who blocks the sender gets no reactions from it (row 17). */
export const reactions: InboundPolicy = (activity, { blockedByAuthor }) =>
  blockedByAuthor && typeOf(activity, "Like", "EmojiReact", "Announce") !== undefined
    ? drop("the author blocks its sender")
    : accept

const lists = ["to", "cc", "bto", "bcc", "audience"] as const

/** A document that is neither for nor about the blockers; the same one where it names none. */
const without = (document: Foreign, blockers: ReadonlySet<string>): Foreign => {
  let changed = false
  const keep = (values: ReadonlyArray<unknown>, named: (value: unknown) => string | undefined) => {
    const kept = values.filter((value) => !blockers.has(named(value) ?? ""))
    changed ||= kept.length < values.length
    return kept
  }
  const parts = Object.fromEntries([
    ...lists.flatMap((name) =>
      document[name] === undefined ? [] : [[name, keep(asList(document[name]), idOf)] as const]
    ),
    ...(document["tag"] === undefined ? [] : [
      ["tag", keep(asList(document["tag"]), (tag) => idOf(asForeign(tag)?.["href"]))] as const
    ])
  ])
  return changed ? { ...document, ...parts } : document
}

/**
 * Takes out mentions and addresses between accounts of which one blocks the other, or the other's domain (federation.md
 * section 10); in a boosted post, too.
 */
export const mentions: InboundPolicy = (activity, { blockers }) => {
  const object = asForeign(activity["object"])
  if (blockers.size === 0 || object === undefined || typeOf(activity, "Announce", "Create", "Update") === undefined) {
    return accept
  }
  const plain = without(object, blockers)
  return plain === object
    ? accept
    : change({ ...activity, object: plain }, "a block is between its sender and somebody whom it names")
}
