import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../services/database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../../../services/database/Rows.ts"
import { sourceBytesMax } from "../../../services/html/Text.ts"
import { draftsMax } from "../../../services/instance/ContentLimits.ts"
import { AttachmentWriter } from "../../../services/media/AttachmentWriter.ts"
import { RecordNotFound, refusedBySpamRule, validationFailed } from "../../../services/runtime/Errors.ts"
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

  /** Overwrites a draft and releases its files, which may then be attached to this or another post. */
  const replace = Effect.fnUntraced(function*(accountId: AccountId, id: bigint, params: string, at: Date) {
    const rows = yield* sql`UPDATE scheduled_statuses SET params = ${params}::jsonb, updated_at = ${at}
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
        const post = { ...(yield* PersistedPost.decode(params)), applicationId }
        const answer = scheduledAt === null
          ? yield* publishing.publish(own, post)
          : yield* scheduling.verbs.Schedule(own, { _tag: "Schedule", post, scheduledAt })
        // A post that a spam rule refuses stays a draft.
        return answer.kind === "refused" ? yield* refusedBySpamRule : answer
      }
    )
  }

  return { verbs }
})
