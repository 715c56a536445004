import { Schema } from "effect"
import { addressing } from "../../federation/documents/Addressing.ts"
import { asForeign, asList, type Foreign } from "../../federation/documents/ForeignValues.ts"
import { Visibility } from "../../statuses/Visibility.ts"

/** Name of the file in which Pixelfed exports an account's statuses: a JSON array in the form of its API. */
export const pixelfedFileName = "pixelfed-statuses.json"

/** Types of statuses that are not posts of their own, or expire: shares, which name no post, and stories. */
const isNoPost = (type: unknown): boolean =>
  typeof type === "string" && (type === "share" || type.startsWith("story") || type.startsWith("group"))

const textOf = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

/** Returns the id of the account's actor, which the file lacks. */
const actorOf = (account: Foreign | undefined): string | undefined => {
  const url = URL.parse(textOf(account?.["url"]) ?? "")
  const username = textOf(account?.["username"])
  return url === null || username === undefined ? undefined : `${url.origin}/users/${username}`
}

const isVisibility = Schema.is(Visibility)

/** Returns the id of the parent of a reply to the account's own post. The file has no ids of other accounts' posts. */
const parentOf = (status: Foreign, account: Foreign | undefined, uri: string) => {
  const [id, parent] = [textOf(status["id"]), textOf(status["in_reply_to_id"])]
  const isOwn = textOf(account?.["id"]) === status["in_reply_to_account_id"]
  return id !== undefined && parent !== undefined && isOwn && uri.endsWith(`/${id}`)
    ? { inReplyTo: uri.slice(0, -id.length) + parent }
    : {}
}

const questionOf = (poll: Foreign) => ({
  type: "Question",
  [poll["multiple"] === true ? "anyOf" : "oneOf"]: asList(poll["options"]).map((option) => ({
    type: "Note",
    name: asForeign(option)?.["title"],
    replies: { type: "Collection", totalItems: asForeign(option)?.["votes_count"] }
  })),
  endTime: poll["expires_at"],
  votersCount: poll["voters_count"]
})

/**
 * Returns a status of Pixelfed as the activity that an outbox would have, so that it is read like those; undefined for
 * one without an author or address. Its files are at URLs; a zip may have them at their paths.
 */
export const activityOf = (status: Foreign): Foreign | undefined => {
  const account = asForeign(status["account"])
  const [actor, uri] = [actorOf(account), textOf(status["uri"])]
  if (actor === undefined || uri === undefined) return undefined
  const mentions = asList(status["mentions"]).flatMap((item) => {
    const mention = asForeign(item)
    return textOf(mention?.["url"]) === undefined ? [] : [mention]
  })
  const [visibility, published] = [status["visibility"], status["created_at"]]
  // An archived post, a draft, or no post: the importer counts other activities as unsupported.
  if (!isVisibility(visibility) || isNoPost(status["pf_type"])) {
    return { id: `${uri}/activity`, type: "View", actor, published, object: uri }
  }
  const addresses = addressing(visibility, actor, mentions.flatMap((mention) => textOf(mention?.["url"]) ?? []))
  const poll = asForeign(status["poll"])
  return {
    id: `${uri}/activity`,
    type: "Create",
    actor,
    published,
    ...addresses,
    object: {
      id: uri,
      type: "Note",
      attributedTo: actor,
      published,
      ...addresses,
      ...parentOf(status, account, uri),
      summary: status["spoiler_text"],
      sensitive: status["sensitive"],
      content: status["content"],
      source: { content: status["content_text"], mediaType: "text/plain" },
      attachment: asList(status["media_attachments"]).map((item) => {
        const file = asForeign(item)
        return {
          type: "Document",
          mediaType: file?.["mime"],
          url: file?.["url"],
          name: file?.["description"]
        }
      }),
      tag: [
        ...asList(status["tags"]).map((tag) => ({
          type: "Hashtag",
          name: asForeign(tag)?.["name"],
          href: asForeign(tag)?.["url"]
        })),
        ...mentions.map((mention) => ({ type: "Mention", href: mention?.["url"], name: mention?.["acct"] }))
      ],
      ...(poll === undefined ? {} : questionOf(poll))
    }
  }
}
