import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { gatheredOrAlone } from "../Gathered.ts"
import { permissions } from "../identity/Roles.ts"
import type { Owner } from "../intents/Commands.ts"
import { type Closing, closing, closingsMax, type NewNotification } from "../intents/Fanouts.ts"
import { rowsMax } from "../Paging.ts"
import { padded } from "../Rows.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { traced } from "../Traced.ts"

/** Moderators who are told of a report. */
const moderatorsMax = 500

/** A notification that was written now, not before. */
export interface Written {
  readonly id: bigint
  readonly accountId: bigint
}

interface Reason {
  readonly key: bigint
  readonly from: bigint
  readonly notification: NewNotification
}
interface Noticed extends Reason {
  readonly owner: Owner
}

/**
 * Writes notifications, each once: one a type, sender, recipient and status. Every write asks again, in SQL, whether
 * the recipient may see the status and wants to hear of the sender. A command that takes back the subject (a favourite,
 * a follow) ends that first and retracts the notifications after it, so that none is written in between.
 */
export class NotificationWriter extends Context.Service<NotificationWriter, {
  /** `favourite`, `reblog`, `follow`, `follow_request`: only while what they tell of still stands. */
  readonly tell: (from: bigint, notification: NewNotification) => Effect.Effect<ReadonlyArray<Written>, SqlError>
  /**
   * The same in one statement that closes the intent to do so, where its owner still owns it, else undefined; in no
   * transaction, and many at once.
   */
  readonly tellAndClose: (
    from: bigint,
    notification: NewNotification,
    closing: Closing
  ) => Effect.Effect<ReadonlyArray<Written> | undefined, SqlError>
  /** Tells the `readers` whom a status mentions. */
  readonly mentions: (
    from: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<Written>, SqlError>
  /** The same in one statement with `closing`, whose row is what allows it; undefined where that gives none. */
  readonly mentionsAndClose: (
    from: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>,
    closing: Fragment
  ) => Effect.Effect<ReadonlyArray<Written> | undefined, SqlError>
  /** Tells followers who asked for it that the account posted (`type` status). */
  readonly subscribers: (
    from: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<Written>, SqlError>
  /** Tells the author of a poll and those who voted that it has ended. */
  readonly pollEnded: (
    author: bigint,
    statusId: bigint,
    readers: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<Written>, SqlError>
  /** Tells who reblogged a status that it was edited. */
  readonly edited: (from: bigint, statusId: bigint) => Effect.Effect<ReadonlyArray<Written>, SqlError>
  /** Tells everybody who works on reports of one by `from`. */
  readonly reported: (from: bigint, reportId: bigint) => Effect.Effect<ReadonlyArray<Written>, SqlError>
  /** Takes back all that was told of deleted statuses. */
  readonly retract: (statuses: ReadonlyArray<bigint>) => Effect.Effect<void, SqlError>
  /** Takes back a favourite or a reblog that was undone. */
  readonly retractOne: (type: "favourite" | "reblog", from: bigint, statusId: bigint) => Effect.Effect<void, SqlError>
  readonly retractFollow: (from: bigint, to: bigint) => Effect.Effect<void, SqlError>
}>()("murmuration/services/feeds/NotificationWriter") {
  static readonly layer = Layer.effect(
    NotificationWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      // Locks the subject: a command that takes it back waits, and retracts this notification, too.
      /** `recipients` selects whom to tell (`account_id`) of which `type` by whom (`from_id`); `status_id` is 0 where there is none. */
      const writing = (recipients: Fragment, now: number) => {
        const at = new Date(now)
        return sql<Written>`
          INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
          SELECT next_id(${now}), r.account_id, r.type, r.from_id, r.status_id, ${at}
          FROM (${recipients}) r JOIN users u ON u.account_id = r.account_id
          WHERE (r.account_id <> r.from_id OR r.type = 'poll')
            AND NOT EXISTS (SELECT FROM blocks b
              WHERE b.account_id = r.account_id AND b.target_account_id = r.from_id OFFSET 0)
            AND NOT EXISTS (SELECT FROM blocks b
              WHERE b.account_id = r.from_id AND b.target_account_id = r.account_id OFFSET 0)
            AND NOT EXISTS (SELECT FROM mutes m WHERE m.account_id = r.account_id AND m.target_account_id = r.from_id
              AND m.hide_notifications AND (m.expires_at IS NULL OR m.expires_at > ${at}) OFFSET 0)
            AND NOT EXISTS (SELECT FROM accounts a JOIN domain_mutes d ON d.domain = a.domain
              WHERE d.account_id = r.account_id AND a.id = r.from_id AND NOT EXISTS (SELECT FROM follows f
                WHERE f.account_id = r.account_id AND f.target_account_id = r.from_id) OFFSET 0)
            AND NOT EXISTS (SELECT FROM accounts a WHERE a.id = r.from_id AND (a.suspended_at IS NOT NULL
              OR (a.silenced_at IS NOT NULL AND NOT EXISTS (SELECT FROM follows f
                WHERE f.account_id = r.account_id AND f.target_account_id = r.from_id))) OFFSET 0)
            AND (r.status_id = 0 OR EXISTS (SELECT FROM statuses s WHERE s.id = r.status_id
              AND ${visibleTo(sql, sql`r.account_id`, "s")}
              AND NOT EXISTS (SELECT FROM conversation_mutes c
                WHERE c.account_id = r.account_id AND c.conversation_id = s.conversation_id) OFFSET 0 FOR SHARE OF s))
          ORDER BY r.account_id
          ON CONFLICT (account_id, type, from_account_id, status_id, report_id) DO NOTHING
          RETURNING id, account_id, type, from_account_id, status_id`
      }
      const all = (type: string, from: bigint, statusId: bigint, recipients: Fragment) =>
        sql`SELECT w.account_id, ${type}::text AS type, ${from}::bigint AS from_id, ${statusId}::bigint AS status_id
          FROM (${recipients}) w`
      const write = (type: string, from: bigint, statusId: bigint, recipients: Fragment) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => writing(all(type, from, statusId, recipients), now))

      const last = Effect.fnUntraced(
        function*(claimed: Fragment, type: string, from: bigint, statusId: bigint, recipients: Fragment) {
          const now = yield* Clock.currentTimeMillis
          const allowed = all(type, from, statusId, sql`SELECT w.account_id FROM closed, (${recipients}) w`)
          const rows = yield* sql<Written | { readonly id: null }>`
            WITH closed AS (${claimed}), told AS (${writing(allowed, now)})
            SELECT told.id, told.account_id FROM closed LEFT JOIN told ON true`
          return rows.length === 0 ? undefined : rows.filter((row) => row.id !== null)
        }
      )

      /** Notifications that still stand, as recipients; with the ids that are given to them. */
      const reasons = (wanted: ReadonlyArray<Reason>) =>
        sql`SELECT * FROM unnest(${wanted.map(({ key }) => key)}::bigint[],
            ${wanted.map(({ notification }) => BigInt(notification.to))}::bigint[], ${
          wanted.map(({ notification }) => notification.type)
        }::text[],
            ${wanted.map(({ from }) => from)}::bigint[],
            ${wanted.map(({ notification }) => BigInt(notification.statusId ?? "0"))}::bigint[])
            AS n (key, account_id, type, from_id, status_id)
          WHERE CASE n.type WHEN 'favourite' THEN EXISTS (SELECT FROM favourites
              WHERE account_id = n.from_id AND status_id = n.status_id OFFSET 0 FOR KEY SHARE)
            WHEN 'reblog' THEN EXISTS (SELECT FROM statuses
              WHERE account_id = n.from_id AND reblog_of_id = n.status_id AND deleted_at IS NULL OFFSET 0 FOR SHARE)
            WHEN 'follow' THEN EXISTS (SELECT FROM follows
              WHERE account_id = n.from_id AND target_account_id = n.account_id OFFSET 0 FOR KEY SHARE)
            ELSE EXISTS (SELECT FROM follow_requests
              WHERE account_id = n.from_id AND target_account_id = n.account_id OFFSET 0 FOR KEY SHARE) END`

      const lastTold = gatheredOrAlone(
        closingsMax,
        Effect.fnUntraced(function*(wanted: ReadonlyArray<Noticed>) {
          const now = yield* Clock.currentTimeMillis
          const closed = closing(sql, wanted.map(({ key, owner }) => ({ id: key, owner })))
          const rows = yield* sql<
            { readonly key: bigint; readonly id: bigint | null; readonly accountId: bigint | null }
          >`
          WITH closed AS (${closed}),
          wanted AS MATERIALIZED (SELECT s.* FROM (${reasons(wanted)}) s JOIN closed ON closed.id = s.key),
          told AS (${writing(sql`SELECT * FROM wanted`, now)})
          SELECT closed.id AS key, told.id, told.account_id FROM closed LEFT JOIN wanted ON wanted.key = closed.id
          LEFT JOIN told ON told.account_id = wanted.account_id AND told.type = wanted.type
            AND told.from_account_id = wanted.from_id AND told.status_id = wanted.status_id`
          const answers = new Map(rows.map((row) => [row.key, row]))
          return ({ key }: Noticed) => {
            const row = answers.get(key)
            if (row === undefined) return undefined
            return row.id === null || row.accountId === null ? [] : [{ id: row.id, accountId: row.accountId }]
          }
        })
      )

      return NotificationWriter.of({
        tell: traced("NotificationWriter.tell")((from, notification) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => writing(reasons([{ key: 0n, from, notification }]), now))
        ),
        tellAndClose: traced("NotificationWriter.lastTold")((from, notification, { id, owner }) =>
          lastTold({ key: id, owner, from, notification })
        ),
        mentions: traced("NotificationWriter.mentions")((from, statusId, readers) =>
          write("mention", from, statusId, sql`SELECT unnest(${padded(new Set(readers))}::bigint[]) AS account_id`)
        ),
        mentionsAndClose: traced("NotificationWriter.lastMentions")((from, statusId, readers, closing) =>
          last(
            closing,
            "mention",
            from,
            statusId,
            sql`SELECT unnest(${padded(new Set(readers))}::bigint[]) AS account_id`
          )
        ),
        subscribers: traced("NotificationWriter.subscribers")((from, statusId, readers) =>
          write("status", from, statusId, sql`SELECT unnest(${readers}::bigint[]) AS account_id`)
        ),
        pollEnded: traced("NotificationWriter.pollEnded")((author, statusId, readers) =>
          write("poll", author, statusId, sql`SELECT unnest(${padded(new Set(readers))}::bigint[]) AS account_id`)
        ),
        edited: traced("NotificationWriter.edited")((from, statusId) =>
          write(
            "update",
            from,
            statusId,
            sql`SELECT account_id FROM statuses
            WHERE reblog_of_id = ${statusId} AND deleted_at IS NULL`
          )
        ),
        reported: traced("NotificationWriter.reported")(function*(from, reportId) {
          const now = yield* Clock.currentTimeMillis
          return yield* sql<Written>`
            INSERT INTO notifications (id, account_id, type, from_account_id, report_id, created_at)
            SELECT next_id(${now}), u.account_id, 'admin.report', ${from}, ${reportId}, ${new Date(now)}
            FROM users u JOIN roles r ON r.id = u.role_id
            WHERE r.permissions & ${permissions.manageReports | permissions.administrator}::bigint <> 0
              AND u.confirmed_at IS NOT NULL AND u.approved AND NOT u.disabled AND u.account_id <> ${from}
            ORDER BY u.account_id LIMIT ${rowsMax(sql, moderatorsMax)}
            ON CONFLICT (account_id, type, from_account_id, status_id, report_id) DO NOTHING RETURNING id, account_id`
        }),
        retract: traced("NotificationWriter.retract")((statuses) =>
          statuses.length === 0
            ? Effect.void
            : Effect.asVoid(
              sql`DELETE FROM notifications WHERE status_id = ANY (${statuses}::bigint[]) AND status_id <> 0`
            )
        ),
        retractOne: traced("NotificationWriter.retractOne")((type, from, statusId) =>
          Effect.asVoid(sql`DELETE FROM notifications WHERE status_id = ${statusId} AND status_id <> 0
            AND type = ${type} AND from_account_id = ${from}`)
        ),
        retractFollow: traced("NotificationWriter.retractFollow")((from, to) =>
          Effect.asVoid(sql`DELETE FROM notifications WHERE account_id = ${to} AND from_account_id = ${from}
            AND type IN ('follow', 'follow_request')`)
        )
      })
    })
  )
}
