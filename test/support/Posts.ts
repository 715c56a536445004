import type { StatusId } from "../../src/services/Ids.ts"
import { type Post, saidBy } from "../../src/services/statuses/Post.ts"

/** An edit by a client that says nothing but the text. */
export const edit = (statusId: StatusId, text: string) => ({ _tag: "Edit", statusId, text, ...saidBy({}) }) as const

/** A post as a client sends it that leaves everything to the author's settings. */
export const post = (text: string, more: Partial<Post> = {}): Post => ({
  ...saidBy({}),
  text,
  visibility: null,
  inReplyToId: null,
  applicationId: null,
  allowedMentions: null,
  mediaIds: null,
  poll: null,
  quoteApprovalPolicy: null,
  ...more
})
