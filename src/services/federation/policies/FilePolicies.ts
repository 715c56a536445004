import { withPosts } from "../documents/CarriedPosts.ts"
import { isFileLink } from "../documents/ForeignPage.ts"
import { asForeign, asList, type Foreign, typeOf } from "../documents/ForeignValues.ts"
import { accept, change, type InboundPolicy } from "./InboundPolicy.ts"

const fields = ["attachment", "icon", "image"] as const

const isEmoji = (tag: unknown) => {
  const document = asForeign(tag)
  return document !== undefined && typeOf(document, "Emoji") !== undefined
}

/** Returns a document without files, pictures and emoji; the same object if it has none. */
const withoutFiles = (document: Foreign): Foreign => {
  const lists = ([["tag", isEmoji], ["url", isFileLink]] as const).flatMap(([name, isFile]) => {
    const remaining = asList(document[name]).filter((one) => !isFile(one))
    return remaining.length === asList(document[name]).length ? [] : [[name, remaining] as const]
  })
  if (lists.length === 0 && fields.every((field) => document[field] === undefined)) return document
  const rest = Object.entries(document).filter(([name]) => !fields.some((field) => field === name))
  return { ...Object.fromEntries(rest), ...Object.fromEntries(lists) }
}

/**
 * Removes files of rejected domains from every embedded post, and from the activity itself, as a reaction has its emoji
 * there.
 */
export const files: InboundPolicy = (activity, { policy }) =>
  policy.rejectMedia
    ? change(activity, withoutFiles(withPosts(activity, withoutFiles)), "files of its domain are rejected")
    : accept
