import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Counters from "../database/Counters.ts"
import { required, rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import type { Recording } from "../intents/Commands.ts"
import { type Fanout, withoutProgress } from "../intents/Fanouts.ts"
import type { Publish } from "../intents/Intent.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent } from "../runtime/TraceParents.ts"
import type { Draft } from "./Drafts.ts"
import { insertion, newRows, type NewStatus, revised, update, withIds } from "./StatusRows.ts"
import { type Revised, StoredStatus } from "./StoredStatus.ts"
import * as Tagging from "./Tagging.ts"

const insertedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, fanoutId: Schema.BigInt }))
const removedRows = rowsOf(Schema.Struct({
  ...StoredStatus.mapFields(Struct.pick(["inReplyToId", "reblogOfId"])).fields,
  /** Quoted status, if accepted. */
  quotedId: Schema.NullOr(Schema.BigInt)
}))

/** A local status to insert: its row with its time, and the names in its text. */
interface Composed {
  readonly row: NewStatus
  readonly draft: Pick<Draft, "mentionIds" | "tags">
}

/** An edit; `millis` is its time, in milliseconds since 1970. */
interface Revising {
  readonly millis: number
  readonly row: Revised
  readonly draft: Pick<Draft, "mentionIds" | "tags">
}

/** Rows of local statuses; always in the transaction of the author's command. */
export class StatusWriter extends Context.Service<StatusWriter, {
  /** Inserts a status with its publish intent; returns the intent. */
  readonly insert: (status: Composed) => Effect.Effect<Fanout<Publish>, SqlError>
  /**
   * Inserts a status that is not a reply as a whole command; undefined if the command must not run.
   *
   * @fastPath one-statement-post
   */
  readonly insertAlone: (
    status: Composed,
    recording: Recording
  ) => Effect.Effect<Fanout<Publish> | undefined, SqlError>
  /** Stores the original as the first revision if the status has no revisions; call it before any change. */
  readonly preserve: (id: bigint, millis: number) => Effect.Effect<void, SqlError>
  /**
   * Writes a new revision of a preserved status. Accounts that are no longer mentioned have read it, so they remain
   * readers without a mention or notification, as in Mastodon: their servers receive edits, too.
   */
  readonly revise: (id: bigint, accountId: bigint, revision: Revising) => Effect.Effect<void, SqlError>
  /**
   * Marks a status as deleted; returns the other statuses whose counters changed. Does nothing if it is already
   * deleted.
   */
  readonly remove: (id: bigint, accountId: bigint, millis: number) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
}>()("murmuration/services/statuses/StatusWriter") {
  static readonly layer = Layer.effect(
    StatusWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make

      /** Writes the status in `newRows`, or nothing if it is empty. */
      const inserted = Effect.fnUntraced(function*(fresh: Fragment, { draft, row }: Composed) {
        const { accountId, createdAt: at, localOnly, visibility } = row
        const millis = at.getTime()
        const traceParent = yield* currentTraceParent
        const named = draft.mentionIds.length === 0 ? sql`` : sql`,
          named AS (INSERT INTO mentions (status_id, account_id)
            SELECT fresh.id, m FROM fresh, unnest(${draft.mentionIds}::bigint[]) m)`
        const [inserted] = yield* insertedRows(
          tracked("account", [accountId])(sql`
          WITH ${fresh},
          made AS (${insertion(sql, sql``, { conversationId: sql`coalesce(fresh.conversation_id, fresh.id)` })}),
          stats AS (INSERT INTO status_stats (status_id) SELECT id FROM fresh),
          counted AS (${
            Counters.accountUpdate(sql, { accountId, statuses: 1 }, at)
          } AND EXISTS (SELECT FROM fresh))${named}${
            Tagging.attached(
              sql,
              sql`(SELECT id, ${accountId}::bigint, ${visibility}::text, ${at}::timestamptz, ${localOnly}::boolean FROM fresh)`,
              draft.tags,
              millis
            )
          },
          told AS (
            INSERT INTO fanouts (id, account_id, kind, status_id, created_at, trace_parent)
            SELECT next_id(${millis}), ${accountId}, 'publish', id, ${at}, ${traceParent}::text FROM fresh RETURNING id)
          SELECT fresh.id, told.id AS fanout_id FROM fresh, told`)
        )
        return inserted &&
          withoutProgress<Publish>(inserted.fanoutId, { _tag: "publish", statusId: inserted.id }, traceParent)
      })
      const insert = traced("StatusWriter.insert")(function*(status: Composed) {
        const { row } = status
        const fanout = required(yield* inserted(newRows(sql, [row]), status))
        if (row.inReplyToId !== null) {
          yield* Counters.count({ sql, tracked }, [], [{ statusId: row.inReplyToId, replies: 1 }])
        }
        return fanout
      })
      const insertAlone = traced("StatusWriter.insertAlone")((status: Composed, { ownerRow, recorded }: Recording) =>
        inserted(
          sql`owner_row AS MATERIALIZED (${ownerRow}),
          minted AS MATERIALIZED (${withIds(sql, [status.row])} WHERE EXISTS (SELECT FROM owner_row)),
          recorded AS (${recorded("minted")}),
          fresh AS MATERIALIZED (SELECT minted.* FROM minted, recorded)`,
          status
        )
      )

      /** Columns of a revision, from the current status. */
      const revision = sql`id, ${revised.list(sql)},
        ARRAY(SELECT coalesce(m.description, '') FROM unnest(media_ids) WITH ORDINALITY o (id, n)
          LEFT JOIN media_attachments m ON m.id = o.id ORDER BY o.n), (SELECT options FROM polls WHERE status_id = statuses.id)`
      const revisionInto = sql`status_edits (id, status_id, ${
        revised.list(sql)
      }, media_descriptions, poll_options, created_at)`

      const preserve = traced("StatusWriter.preserve")((id: bigint, millis: number) =>
        // Revisions are all versions including the newest, so the first edit stores the original first.
        Effect.asVoid(sql`INSERT INTO ${revisionInto} SELECT next_id(${millis}), ${revision}, created_at FROM statuses
          WHERE id = ${id} AND edited_at IS NULL`)
      )

      const revise: StatusWriter["Service"]["revise"] = traced("StatusWriter.revise")(
        function*(id, accountId, { draft, millis, row }) {
          const at = new Date(millis)
          yield* tracked("status", [id])(
            sql`${update(sql, { ...row, editedAt: at })} WHERE id = ${id} AND account_id = ${accountId}`
          )
          yield* sql`INSERT INTO ${revisionInto} SELECT next_id(${millis}), ${revision}, ${at} FROM statuses WHERE id = ${id}`
          yield* tracked("status", [id])(
            sql`UPDATE mentions SET quiet = true WHERE status_id = ${id} AND account_id <> ALL (${draft.mentionIds}::bigint[])`
          )
          yield* tracked("status", [id])(
            sql`INSERT INTO mentions (status_id, account_id) SELECT ${id}, m FROM unnest(${draft.mentionIds}::bigint[]) m
            ON CONFLICT (status_id, account_id) DO UPDATE SET silent = false, quiet = false`
          )
          yield* Tagging.replaced(sql, id, draft.tags, millis)
        }
      )

      const remove = traced("StatusWriter.remove")(function*(id: bigint, accountId: bigint, millis: number) {
        const [removed] = yield* removedRows(
          tracked("status", [id])(sql`
          ${
            update(sql, { deletedAt: new Date(millis) })
          } WHERE id = ${id} AND account_id = ${accountId} AND deleted_at IS NULL
          RETURNING in_reply_to_id, reblog_of_id, (SELECT q.quoted_status_id FROM quotes q
            WHERE q.status_id = statuses.id AND q.state = 'accepted') AS quoted_id`)
        )
        if (removed === undefined) return []
        yield* tracked("status", [id])(sql`DELETE FROM status_pins WHERE status_id = ${id}`)
        const counted = [
          ...(removed.inReplyToId === null ? [] : [{ statusId: removed.inReplyToId, replies: -1 }]),
          ...(removed.reblogOfId === null ? [] : [{ statusId: removed.reblogOfId, reblogs: -1 }]),
          ...(removed.quotedId === null ? [] : [{ statusId: removed.quotedId, quotes: -1 }])
        ]
        yield* Counters.count({ sql, tracked }, [{ accountId, statuses: -1 }], counted)
        return counted.map(({ statusId }) => statusId)
      })

      return StatusWriter.of({ insert, insertAlone, preserve, revise, remove })
    })
  )
}
