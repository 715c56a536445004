import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId, StatusId } from "../../../services/database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../../../services/database/Rows.ts"
import { sourceBytesMax } from "../../../services/html/Text.ts"
import { draftsMax } from "../../../services/instance/ContentLimits.ts"
import { AttachmentWriter } from "../../../services/media/AttachmentWriter.ts"
import { RecordNotFound, refusedBySpamRule, Unprocessable, validationFailed } from "../../../services/runtime/Errors.ts"
import { PersistedPost, type Post } from "../../../services/statuses/Post.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onDraft } from "../core/Verbs.ts"
import { filesOf } from "./PostTexts.ts"
import type { Publishing } from "./Publishing.ts"
import type { Scheduling } from "./Scheduling.ts"

const countRows = rowsOf(Schema.Struct({ drafts: Schema.Int }))
const paramsRows = rowsOf(Schema.Struct({ params: Schema.Unknown }))

/**
 * Drafts of posts. The rules for posts are checked when a draft is published. A draft must only fit the size limit of a
 * post and have attachable files.
 */
export const make = Effect.fnUntraced(function*(publishing: Publishing, scheduling: Scheduling) {
  const sql = yield* SqlClient.SqlClient
  const attachments = yield* AttachmentWriter

  const encoded = Effect.fnUntraced(function*(post: Post) {
    const params = yield* PersistedPost.encode(post)
    return Buffer.byteLength(params) > sourceBytesMax
      ? yield* validationFailed(`The draft is too long (maximum is ${sourceBytesMax} bytes)`)
      : params
  })

  const create = Effect.fnUntraced(function*(accountId: AccountId, params: string, at: Date) {
    const { drafts } = singleRow(
      yield* countRows(sql`SELECT count(*)::int AS drafts FROM scheduled_statuses
        WHERE account_id = ${accountId} AND scheduled_at IS NULL`)
    )
    if (drafts >= draftsMax) return yield* validationFailed(`You have exceeded the limit of ${draftsMax} drafts`)
    return singleRow(
      yield* idRows(sql`INSERT INTO scheduled_statuses (id, account_id, params, created_at)
        VALUES (next_id(${at.getTime()}), ${accountId}, ${params}::jsonb, ${at}) RETURNING id`)
    ).id
  })

  /**
   * Overwrites a draft and releases its files, which may then be attached to this or another post. Further texts are
   * kept if `params` names none, because apps do not know them.
   */
  const replace = Effect.fnUntraced(function*(accountId: AccountId, id: bigint, params: string, at: Date) {
    const rows = yield* sql`UPDATE scheduled_statuses SET updated_at = ${at},
        params = CASE WHEN params ? 'continued' THEN jsonb_build_object('continued', params->'continued') ELSE '{}' END
          || ${params}::jsonb
      WHERE id = ${id} AND account_id = ${accountId} AND scheduled_at IS NULL RETURNING id`
    if (rows.length === 0) return yield* new RecordNotFound()
    yield* release(id, at)
    return id
  })

  const release = (id: bigint, at: Date) =>
    sql`UPDATE media_attachments SET scheduled_status_id = NULL, touched_at = ${at} WHERE scheduled_status_id = ${id}`

  const take = Effect.fnUntraced(function*(accountId: AccountId, id: bigint) {
    const found = sql`id = ${id} AND account_id = ${accountId} AND scheduled_at IS NULL`
    const [row] = yield* paramsRows(sql`SELECT params FROM scheduled_statuses WHERE ${found} FOR UPDATE`)
    if (row === undefined) return yield* new RecordNotFound()
    yield* release(id, new Date(yield* Clock.currentTimeMillis))
    yield* sql`DELETE FROM scheduled_statuses WHERE ${found}`
    return row
  })

  /** Keeps the unpublished posts of a thread under the draft's id. */
  const keepRest = Effect.fnUntraced(function*(accountId: AccountId, id: bigint, rest: Post) {
    const at = new Date(yield* Clock.currentTimeMillis)
    yield* sql`INSERT INTO scheduled_statuses (id, account_id, params, created_at)
      VALUES (${id}, ${accountId}, ${yield* PersistedPost.encode(rest)}::jsonb, ${at})`
  })

  const verbs = {
    SaveDraft: Effect.fnUntraced(function*({ accountId }: Ownership, { draftId, post }: Commands["SaveDraft"]) {
      const params = yield* encoded(post)
      const at = new Date(yield* Clock.currentTimeMillis)
      const id = draftId === null
        ? yield* create(accountId, params, at)
        : yield* replace(accountId, draftId, params, at)
      yield* attachments.check(accountId, filesOf(post), null)
      yield* attachments.attach(filesOf(post), { scheduledStatusId: id })
      return onDraft(id)
    }),
    DeleteDraft: Effect.fnUntraced(function*({ accountId }: Ownership, { draftId }: Commands["DeleteDraft"]) {
      yield* take(accountId, draftId)
      return onDraft(draftId)
    }),
    PublishDraft: Effect.fnUntraced(
      function*(own: Ownership, { applicationId, draftId, scheduledAt }: Commands["PublishDraft"]) {
        const { params } = yield* take(own.accountId, draftId)
        const { continued = [], ...draft } = yield* PersistedPost.decode(params)
        if (continued.length > 0 && scheduledAt !== null) {
          return yield* new Unprocessable({ text: "A thread cannot be scheduled" })
        }
        const post = { ...draft, applicationId }
        const response = scheduledAt === null
          ? yield* publishing.publish(own, post)
          : yield* scheduling.verbs.Schedule(own, { _tag: "Schedule", post, scheduledAt })
        // A post that a spam rule refuses stays a draft.
        if (response.kind === "refused") return yield* refusedBySpamRule
        const [text, ...later] = continued
        if (text !== undefined) yield* keepRest(own.accountId, draftId, restOf(post, text, later, BigInt(response.id)))
        return response
      }
    )
  }

  return { verbs }
})

/** Returns the next post of a thread: a reply to the published one, with its settings, without its files. */
const restOf = (published: Post, text: string, continued: ReadonlyArray<string>, inReplyToId: bigint): Post => ({
  ...published,
  text,
  continued,
  inReplyToId: StatusId.make(inReplyToId),
  mediaIds: null,
  poll: null,
  quotedStatusId: null
})
