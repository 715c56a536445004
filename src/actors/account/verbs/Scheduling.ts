import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../services/database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../../../services/database/Rows.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import { AttachmentWriter } from "../../../services/media/AttachmentWriter.ts"
import { RecordNotFound, Unprocessable, validationFailed } from "../../../services/runtime/Errors.ts"
import { PersistedPost } from "../../../services/statuses/Post.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onDraft, onScheduled } from "../core/Verbs.ts"
import type { Publishing } from "./Publishing.ts"

const countRows = rowsOf(Schema.Struct({ total: Schema.Int, today: Schema.Int }))
const paramsRows = rowsOf(Schema.Struct({ params: Schema.Unknown }))

/**
 * Minimum lead of a scheduled post; a post whose time has passed is published at once (limits-and-rates.md section 1).
 */
const scheduleMillisMin = 5 * 60_000
const scheduledPerDayMax = 25
const scheduledMax = 300

/** Scheduled posts: their rows, and agenda entries that wake the account when one is due. */
export const make = Effect.fnUntraced(function*(publishing: Publishing) {
  const sql = yield* SqlClient.SqlClient
  const agenda = yield* AgendaEntries
  const attachments = yield* AttachmentWriter

  const future = Effect.fnUntraced(function*(scheduledAt: number) {
    const now = yield* Clock.currentTimeMillis
    if (scheduledAt < now + scheduleMillisMin) {
      return yield* validationFailed("Scheduled at date must be in the future")
    }
  })

  /**
   * Checks the limits of scheduled posts, in total and on the calendar day (UTC) of `scheduledAt`; `except` is not
   * counted.
   */
  const requireCapacity = Effect.fnUntraced(function*(accountId: AccountId, scheduledAt: number, except: bigint) {
    const day = new Date(scheduledAt - scheduledAt % 86_400_000)
    const { today, total } = singleRow(
      yield* countRows(sql`
      SELECT count(*)::int AS total,
        (count(*) FILTER (WHERE scheduled_at >= ${day} AND scheduled_at < ${new Date(
        day.getTime() + 86_400_000
      )}))::int AS today
      FROM scheduled_statuses WHERE account_id = ${accountId} AND scheduled_at IS NOT NULL AND id <> ${except}`)
    )
    if (total >= scheduledMax) {
      return yield* new Unprocessable({
        text: `Validation failed: You have exceeded the limit of ${scheduledMax} scheduled posts`
      })
    }
    if (today >= scheduledPerDayMax) {
      return yield* new Unprocessable({
        text: `Validation failed: You have exceeded the limit of ${scheduledPerDayMax} scheduled posts for today`
      })
    }
  })

  const verbs = {
    Schedule: Effect.fnUntraced(function*(own: Ownership, { post, scheduledAt }: Commands["Schedule"]) {
      const { accountId } = own
      const now = yield* Clock.currentTimeMillis
      // A time that has passed means now.
      if (scheduledAt <= now) return yield* publishing.publish(own, post)
      yield* future(scheduledAt)
      yield* requireCapacity(accountId, scheduledAt, 0n)
      const mediaIds = yield* publishing.checkPublishable(accountId, post)
      const params = yield* PersistedPost.encode(post)
      const { id } = singleRow(
        yield* idRows(sql`
        INSERT INTO scheduled_statuses (id, account_id, scheduled_at, params, created_at)
        VALUES (next_id(${now}), ${accountId}, ${new Date(scheduledAt)}, ${params}::jsonb, ${new Date(
          now
        )}) RETURNING id`)
      )
      yield* attachments.attach(mediaIds, { scheduledStatusId: id })
      yield* agenda.enqueue("scheduled_status", id, accountId, scheduledAt)
      return onScheduled(id)
    }),
    Reschedule: Effect.fnUntraced(
      function*({ accountId }: Ownership, { scheduledAt, scheduledId }: Commands["Reschedule"]) {
        yield* future(scheduledAt)
        yield* requireCapacity(accountId, scheduledAt, scheduledId)
        const rows = yield* sql`UPDATE scheduled_statuses SET scheduled_at = ${new Date(scheduledAt)}
        WHERE id = ${scheduledId} AND account_id = ${accountId} AND scheduled_at IS NOT NULL RETURNING id`
        if (rows.length === 0) return yield* new RecordNotFound()
        yield* agenda.enqueue("scheduled_status", scheduledId, accountId, scheduledAt)
        return onScheduled(scheduledId)
      }
    ),
    CancelScheduled: Effect.fnUntraced(
      function*({ accountId }: Ownership, { scheduledId }: Commands["CancelScheduled"]) {
        const rows = yield* sql`DELETE FROM scheduled_statuses
        WHERE id = ${scheduledId} AND account_id = ${accountId} AND scheduled_at IS NOT NULL RETURNING id`
        if (rows.length === 0) return yield* new RecordNotFound()
        yield* agenda.cancel("scheduled_status", scheduledId)
        return onScheduled(scheduledId)
      }
    ),
    Unschedule: Effect.fnUntraced(function*({ accountId }: Ownership, { scheduledId }: Commands["Unschedule"]) {
      const at = new Date(yield* Clock.currentTimeMillis)
      const rows = yield* sql`UPDATE scheduled_statuses SET scheduled_at = NULL, updated_at = ${at}
        WHERE id = ${scheduledId} AND account_id = ${accountId} AND scheduled_at IS NOT NULL RETURNING id`
      if (rows.length === 0) return yield* new RecordNotFound()
      yield* agenda.cancel("scheduled_status", scheduledId)
      return onDraft(scheduledId)
    })
  }

  return {
    verbs,
    /** Publishes a due post and deletes its row, in the current transaction. */
    due: Effect.fnUntraced(function*(own: Ownership, scheduledId: bigint) {
      const { accountId } = own
      const [row] = yield* paramsRows(sql`DELETE FROM scheduled_statuses
        WHERE id = ${scheduledId} AND account_id = ${accountId} AND scheduled_at IS NOT NULL RETURNING params`)
      if (row === undefined) return
      const post = yield* PersistedPost.decode(row.params)
      // A post that is no longer allowed (its parent was deleted, say) is dropped, as in Mastodon.
      yield* publishing.publish(own, post).pipe(
        Effect.catchTags({
          NotAllowed: dropped,
          RecordNotFound: dropped,
          Unprocessable: dropped,
          UnexpectedMentions: dropped
        })
      )
    })
  }
})

const dropped = (reason: { readonly message: string }) =>
  Effect.logInfo("a scheduled status could not be published", reason.message)

export type Scheduling = Effect.Success<ReturnType<typeof make>>
