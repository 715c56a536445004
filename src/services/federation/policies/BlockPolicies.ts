import { isOfTrait } from "../documents/ActivityTypes.ts"
import { postsIn, withPosts } from "../documents/CarriedPosts.ts"
import { asForeign, asList, asText, type Foreign, idOf, idsOf } from "../documents/ForeignValues.ts"
import { quoteFields } from "../documents/QuoteDocument.ts"
import { accept, change, drop, type InboundPolicy } from "./InboundPolicy.ts"

/** Fields of a post that list its audience. */
const audiences = ["to", "cc", "bto", "bcc", "audience"] as const
/** Fields of a post that name another post. */
const posts = ["inReplyTo", ...quoteFields] as const

const hrefOf = (tag: unknown) => idOf(asForeign(tag)?.["href"])

/** Returns references of a post to accounts and to other posts. */
const linksOf = (post: Foreign): ReadonlyArray<unknown> => [
  ...[...audiences, ...posts].flatMap((field) => asList(post[field])),
  ...asList(post["tag"]).map(hrefOf)
]

/** Returns the ids of accounts and posts that an activity and its embedded posts refer to, remote ones included. */
export const referredTo = (activity: Foreign): ReadonlyArray<string> => {
  const object = isOfTrait(activity, "reacts") ? asList(activity["object"]) : []
  return [...new Set([...object, ...postsIn(activity).flatMap(linksOf)].flatMap((link) => idOf(link) ?? []))]
}

/** Returns true for votes, which mean nothing without their poll. */
const isVoteIn = (separated: ReadonlySet<string>) => (post: Foreign) =>
  typeof post["name"] === "string" && !asText(post["content"], 1) && separated.has(idOf(post["inReplyTo"]) ?? "")

/** Drops reactions and votes between accounts that a block separates (row 17). */
export const reactions: InboundPolicy = (activity, { separated }) =>
  separated.size > 0 &&
    ((isOfTrait(activity, "reacts") && idsOf(activity["object"]).some((id) => separated.has(id))) ||
      postsIn(activity).some(isVoteIn(separated)))
    ? drop("a block is between its sender and the author of its object")
    : accept

/** Returns a post without its references to separated accounts; the same object if it has none. */
const without = (separated: ReadonlySet<string>) => (post: Foreign): Foreign => {
  let changed = false
  const keep = (values: ReadonlyArray<unknown>, named: (value: unknown) => string | undefined) => {
    const remaining = values.filter((value) => !separated.has(named(value) ?? ""))
    changed ||= remaining.length < values.length
    return remaining
  }
  const lists = audiences.flatMap((field) =>
    post[field] === undefined ? [] : [[field, keep(asList(post[field]), idOf)] as const]
  )
  const tags = post["tag"] === undefined ? [] : [["tag", keep(asList(post["tag"]), hrefOf)] as const]
  const named = posts.filter((field) => idsOf(post[field]).some((id) => separated.has(id)))
  if (!changed && named.length === 0) return post
  const entries = Object.entries({ ...post, ...Object.fromEntries([...lists, ...tags]) })
  return Object.fromEntries(entries.filter(([name]) => !named.some((field) => field === name)))
}

/**
 * Removes mentions, addressees, replies and quotes from posts between accounts of which one blocks the other, or the
 * other's domain (federation.md section 10). Runs before every policy of the author: a block outranks consent.
 */
export const mentions: InboundPolicy = (activity, { separated }) =>
  separated.size === 0
    ? accept
    : change(
      activity,
      withPosts(activity, without(separated)),
      "a block between its sender and an account that it references"
    )
