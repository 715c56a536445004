import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isHidden } from "../HiddenAccounts.ts"
import { normalise } from "../html/HashtagNames.ts"
import { clauses, newestFirst, type Page } from "../Paging.ts"
import { idRows } from "../Rows.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import { waitsForOthers } from "./HeldStatuses.ts"
import { visibleTo } from "./Visibility.ts"

/** Which statuses of an account are wanted. */
interface AccountSelection {
  readonly onlyMedia: boolean
  /** Replies to itself stay. */
  readonly excludeReplies: boolean
  readonly excludeReblogs: boolean
  readonly excludeDirect: boolean
  /** A hashtag in any spelling. */
  readonly tagged: string | undefined
}

/** What one account has published, as far as the viewer may see it. */
export class AccountStatuses extends Context.Service<AccountStatuses, {
  /** Ids, newest first. Reblogs of whom the viewer blocks or mutes are left out; the account itself it has asked for. */
  readonly page: (
    viewer: Viewer,
    account: bigint,
    selection: AccountSelection,
    page: Page
  ) => Effect.Effect<ReadonlyArray<bigint>>
  /** Pinned ones, the last one pinned first. */
  readonly pinned: (viewer: Viewer, account: bigint) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/statuses/AccountStatuses") {
  static readonly layer = Layer.effect(
    AccountStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const page = traced("AccountStatuses.page")(
        function*(viewer: Viewer, account: bigint, selection: AccountSelection, page: Page) {
          if (page.limit === 0) return []
          const now = new Date(yield* Clock.currentTimeMillis)
          const { tail, where } = clauses(sql, "s.id", page)
          const conditions = [
            sql`s.account_id = ${account} AND s.deleted_at IS NULL`,
            where,
            visibleTo(sql, viewer, "s", account),
            ...(selection.onlyMedia ? [sql`s.media_ids <> '{}'`] : []),
            ...(selection.excludeReplies
              ? [sql`(s.in_reply_to_id IS NULL OR s.in_reply_to_account_id = s.account_id)`]
              : []),
            ...(selection.excludeReblogs ? [sql`s.reblog_of_id IS NULL`] : []),
            ...(selection.excludeDirect ? [sql`s.visibility <> 'direct'`] : []),
            ...(selection.tagged === undefined ? [] : [
              sql`EXISTS (SELECT FROM statuses_tags st JOIN tags t ON t.id = st.tag_id
                WHERE st.status_id = s.id AND t.name = ${normalise(selection.tagged)} OFFSET 0)`
            ]),
            ...(viewer === undefined || viewer === account ? [] : [
              sql`NOT ${waitsForOthers(sql, viewer, "s")}`,
              sql`(s.reblog_of_id IS NULL OR NOT EXISTS (SELECT FROM statuses o WHERE o.id = s.reblog_of_id
                AND o.account_id <> s.account_id
                AND ${isHidden(sql, sql`${viewer}::bigint`, sql`o.account_id`, now)} OFFSET 0))`
            ])
          ]
          const rows = yield* idRows(sql`SELECT s.id FROM statuses s WHERE ${sql.and(conditions)} ${tail}`)
          return newestFirst(page, rows).map(({ id }) => id)
        },
        Effect.orDie
      )

      const pinned = traced("AccountStatuses.pinned")(function*(viewer: Viewer, account: bigint) {
        const rows = yield* idRows(sql`
          SELECT s.id FROM status_pins p JOIN statuses s ON s.id = p.status_id
          WHERE p.account_id = ${account} AND ${visibleTo(sql, viewer, "s", account)} ORDER BY p.id DESC`)
        return rows.map(({ id }) => id)
      }, Effect.orDie)

      return AccountStatuses.of({ page, pinned })
    })
  )
}
