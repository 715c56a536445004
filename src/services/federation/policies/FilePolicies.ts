import { asForeign, asList, type Foreign, typeOf } from "../documents/Reading.ts"
import { accept, change, type InboundPolicy } from "./InboundPolicy.ts"

const fields = ["attachment", "icon", "image"] as const

const rejected = "files of its domain are rejected"

const isEmoji = (tag: unknown) => {
  const document = asForeign(tag)
  return document !== undefined && typeOf(document, "Emoji") !== undefined
}

/** A document without files, pictures and emoji; the same one where it has none. */
const withoutFiles = (document: Foreign): Foreign => {
  const tags = asList(document["tag"])
  const plain = tags.filter((tag) => !isEmoji(tag))
  if (plain.length === tags.length && fields.every((field) => document[field] === undefined)) return document
  const rest = Object.fromEntries(Object.entries(document).filter(([name]) => !fields.some((field) => field === name)))
  return document["tag"] === undefined ? rest : { ...rest, tag: plain }
}

/** Of a domain whose files are rejected come words only. */
export const files: InboundPolicy = (activity, { policy }) => {
  if (!policy.rejectMedia) return accept
  const object = asForeign(activity["object"])
  // A reaction has its emoji beside its object, which is another's.
  if (typeOf(activity, "Like", "EmojiReact") !== undefined) {
    const plain = withoutFiles(activity)
    return plain === activity ? accept : change(plain, rejected)
  }
  if (object === undefined) return accept
  const plain = withoutFiles(object)
  return plain === object ? accept : change({ ...activity, object: plain }, rejected)
}
