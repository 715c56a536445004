import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId, StatusId } from "../../src/services/database/Ids.ts"
import { inputOf, type Post } from "../../src/services/statuses/Post.ts"

/** Makes the edit of a client that sends only the text. */
export const edit = (statusId: StatusId, text: string) => ({ _tag: "Edit", statusId, text, ...inputOf({}) }) as const

/** Makes a post with only a text; the author's settings decide the rest. */
export const post = (text: string, more: Partial<Post> = {}): Post => ({
  ...inputOf({}),
  text,
  contentType: null,
  visibility: null,
  localOnly: null,
  inReplyToId: null,
  applicationId: null,
  allowedMentions: null,
  mediaIds: null,
  poll: null,
  quotedStatusId: null,
  quoteApprovalPolicy: null,
  interactionPolicy: null,
  ...more
})

/** Inserts a status like its author's actor. */
export const status = Effect.fnUntraced(function*(author: AccountId, text: string, more: {
  readonly visibility?: "public" | "unlisted" | "private" | "direct"
  readonly html?: string
  readonly spoilerText?: string
  readonly inReplyTo?: bigint
  readonly reblogOf?: bigint
  readonly tag?: string
} = {}) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const at = new Date(now)
  const [row] = yield* sql<{ id: bigint }>`
    INSERT INTO statuses (id, account_id, text, html, spoiler_text, visibility, in_reply_to_id, reblog_of_id, conversation_id, created_at)
    VALUES (next_id(${now}), ${author}, ${text}, ${more.html ?? `<p>${text}</p>`}, ${more.spoilerText ?? ""},
      ${more.visibility ?? "public"}, ${more.inReplyTo ?? null}, ${more.reblogOf ?? null}, 1, ${at}) RETURNING id`
  const { id } = row!
  yield* sql`INSERT INTO status_stats (status_id) VALUES (${id})`
  if (more.tag !== undefined) {
    yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (next_id(${now}), ${more.tag}, ${more.tag}, ${at})
      ON CONFLICT DO NOTHING`
    yield* sql`INSERT INTO statuses_tags (tag_id, status_id) SELECT id, ${id} FROM tags WHERE name = ${more.tag}`
  }
  return id
})
