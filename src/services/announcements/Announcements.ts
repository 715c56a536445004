import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../database/Columns.ts"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { Announcement, announcementReactionsMax, announcementsMax, Reaction } from "./Announcement.ts"

const Published = Announcement.mapFields((fields) => ({ ...fields, read: Schema.Boolean }))
/** A published announcement with the viewer's read state. */
export type Published = typeof Published.Type
const publishedRows = rowsOf(Published)
const reactionRows = rowsOf(Reaction)
const columns = columnsOf(Announcement)

/** Announcements as users read them (S-088, S-109, S-221). */
export class Announcements extends Context.Service<Announcements, {
  /** Returns published announcements in chronological order; dismissed ones can be left out. */
  readonly published: (
    viewer: Viewer,
    options?: { readonly withDismissed?: boolean; readonly id?: bigint }
  ) => Effect.Effect<ReadonlyArray<Published>>
  /** Returns the reactions to announcements, oldest first for each. */
  readonly reactions: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<Reaction>>
  /** Marks an announcement as read; idempotent. */
  readonly dismiss: (account: AccountId, id: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/announcements/Announcements") {
  static readonly layer = Layer.effect(
    Announcements,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const published = traced("Announcements.published")(function*(
        viewer: Viewer,
        { id, withDismissed = true }: { readonly withDismissed?: boolean; readonly id?: bigint } = {}
      ) {
        return yield* publishedRows(sql`SELECT * FROM (
          SELECT ${columns.list(sql, "a")}, a.created_at, EXISTS (SELECT FROM announcement_dismissals d
            WHERE d.announcement_id = a.id AND d.account_id = ${viewer ?? 0n}) AS read
          FROM announcements a WHERE a.published_at IS NOT NULL AND (${id ?? null}::bigint IS NULL OR a.id = ${
          id ?? null
        })) o
          WHERE ${withDismissed} OR NOT o.read
          ORDER BY coalesce(starts_at, scheduled_at, published_at, created_at), id LIMIT ${announcementsMax}`)
      }, Effect.orDie)

      return Announcements.of({
        published,
        reactions: traced("Announcements.reactions")(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
          if (ids.length === 0) return []
          return yield* reactionRows(sql`SELECT r.announcement_id, r.name, count(*)::int AS count,
              bool_or(r.account_id = ${viewer ?? 0n}) AS me
            FROM announcement_reactions r
            WHERE r.announcement_id = ANY (${ids}::bigint[])
              AND NOT ${isSuspended(sql, sql`r.account_id`)}
            GROUP BY r.announcement_id, r.name ORDER BY min(r.created_at), r.name
            LIMIT ${announcementsMax * announcementReactionsMax}`)
        }, Effect.orDie),
        dismiss: traced("Announcements.dismiss")(function*(account: AccountId, id: bigint) {
          const [found] = yield* published(account, { id })
          if (found === undefined) return yield* new RecordNotFound()
          yield* Effect.orDie(sql`INSERT INTO announcement_dismissals (account_id, announcement_id)
            SELECT ${account}, id FROM (SELECT id FROM announcements WHERE id = ${id} FOR KEY SHARE) a ON CONFLICT DO NOTHING`)
        })
      })
    })
  )
}
