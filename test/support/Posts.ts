import type { Post } from "../../src/actors/account/Protocol.ts"

/** A post as a client sends it that leaves everything to the author's settings. */
export const post = (text: string, more: Partial<Post> = {}): Post => ({
  text,
  spoilerText: "",
  sensitive: null,
  visibility: null,
  language: null,
  inReplyToId: null,
  applicationId: null,
  allowedMentions: null,
  ...more
})
