import { Effect, Option, Schema } from "effect"
import { PersistedPost, Post } from "../../statuses/Post.ts"
import { nowMark, type Step, type TextRow } from "../Step.ts"
import { lacksUser, listOf } from "./ColumnSql.ts"

/** Id, which Mastodon stores as a number or as a text. */
const Id = Schema.Union([Schema.Int, Schema.String])
const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
/** A yes or no; some apps send a text. */
const Flag = Schema.Union([Schema.Boolean, Schema.String])

/** Parameters of a scheduled post, as its app sent them. */
const Params = Schema.fromJsonString(Schema.Struct({
  text: optional(Schema.String),
  ["spoiler_text"]: optional(Schema.String),
  sensitive: optional(Flag),
  language: optional(Schema.String),
  visibility: optional(Schema.String),
  ["in_reply_to_id"]: optional(Id),
  ["application_id"]: optional(Id),
  ["allowed_mentions"]: optional(Schema.Array(Id)),
  ["media_ids"]: optional(Schema.Array(Id)),
  ["quoted_status_id"]: optional(Id),
  ["quote_approval_policy"]: optional(Schema.Unknown),
  poll: optional(Schema.Struct({
    options: Schema.Array(Schema.String),
    ["expires_in"]: Id,
    multiple: optional(Flag),
    ["hide_totals"]: optional(Flag)
  }))
}))
const readParams = Schema.decodeUnknownOption(Params)
const readPost = Schema.decodeUnknownOption(Schema.toCodecJson(Post))

type Given<A> = A | null | undefined
const flag = (value: Given<boolean | string>) => value === true || value === "true" || value === "1"
const id = (value: Given<number | string>) =>
  value === null || value === undefined || value === "" ? null : String(value)

/** Audiences by Mastodon's bits of automatic approval. */
const quotePolicy = (bits: unknown) =>
  typeof bits !== "number" ? null : (bits >> 16 & 2) !== 0 ? "public" : (bits >> 16 & 4) !== 0 ? "followers" : "nobody"

/** Returns the post of Mastodon's parameters; undefined if they are damaged. */
const postOf = (text: string): Post | undefined =>
  Option.getOrUndefined(Option.flatMap(readParams(text), (params) =>
    readPost({
      text: params.text ?? "",
      spoilerText: params["spoiler_text"] ?? null,
      sensitive: params.sensitive === null || params.sensitive === undefined ? null : flag(params.sensitive),
      language: params.language || null,
      visibility: params.visibility || null,
      inReplyToId: id(params["in_reply_to_id"]),
      applicationId: id(params["application_id"]),
      allowedMentions: params["allowed_mentions"]?.map(String) ?? null,
      mediaIds: params["media_ids"]?.map(String) ?? null,
      quotedStatusId: id(params["quoted_status_id"]),
      quoteApprovalPolicy: quotePolicy(params["quote_approval_policy"]),
      poll: params.poll === null || params.poll === undefined ? null : {
        options: params.poll.options,
        seconds: Number(params.poll["expires_in"]),
        multiple: flag(params.poll.multiple),
        hideTotals: flag(params.poll["hide_totals"])
      }
    })))

const prepared = Effect.fnUntraced(function*(row: TextRow) {
  const post = postOf(row["params"] ?? "")
  if (post === undefined) return { ...row, post: null }
  const copied: TextRow = {
    ...row,
    post: yield* PersistedPost.encode(post),
    parent: id(post.inReplyToId?.toString()),
    quoted: id(post.quotedStatusId?.toString()),
    app: id(post.applicationId?.toString()),
    files: JSON.stringify(post.mediaIds?.map(String) ?? [])
  }
  return copied
})

const ids = listOf("staged.files", "bigint")

/** Scheduled posts. Mastodon does not say when one changed, so a delta brings all of them again. */
export const step: Step = {
  name: "scheduled posts",
  table: "scheduled_statuses",
  columns: "id:bigint account_id:bigint scheduled_at:timestamptz params",
  prepared: "post parent:bigint quoted:bigint app:bigint files",
  prepare: (rows) => Effect.forEach(rows, prepared),
  rejects: [
    ["scheduled_at IS NULL", "the post has no time"],
    lacksUser("account_id"),
    ["post IS NULL", "the parameters of the post are damaged"],
    [
      "parent IS NOT NULL AND NOT EXISTS (SELECT FROM statuses p WHERE p.id = staged.parent)",
      "the post that it replies to was not copied"
    ],
    [
      "quoted IS NOT NULL AND NOT EXISTS (SELECT FROM statuses p WHERE p.id = staged.quoted)",
      "the post that it quotes was not copied"
    ],
    [
      `EXISTS (SELECT FROM unnest(${ids}) f WHERE NOT EXISTS (SELECT FROM media_attachments m
        WHERE m.id = f AND m.account_id = staged.account_id AND m.status_id IS NULL))`,
      "a file of the post was not copied"
    ]
  ],
  write: [
    `INSERT INTO scheduled_statuses (id, account_id, scheduled_at, params, created_at)
      SELECT id, account_id, scheduled_at, post::jsonb || CASE WHEN app IS NULL OR EXISTS (SELECT FROM oauth_apps a WHERE a.id = app)
        THEN '{}'::jsonb ELSE '{"applicationId": null}' END, '${nowMark}' FROM staged
      ON CONFLICT (id) DO UPDATE SET scheduled_at = excluded.scheduled_at, params = excluded.params`,
    `UPDATE media_attachments m SET scheduled_status_id = staged.id FROM staged WHERE m.id = ANY (${ids})`,
    `INSERT INTO agenda (kind, subject_id, account_id, due_at) SELECT 'scheduled_status', id, account_id, scheduled_at FROM staged
      ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = excluded.due_at`
  ],
  renews: "scheduled_statuses"
}
