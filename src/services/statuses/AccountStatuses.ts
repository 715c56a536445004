import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { normalise } from "../html/HashtagNames.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../text/BoundedText.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { waitsForOthers } from "./HeldStatuses.ts"
import { visibleTo } from "./Visibility.ts"

const foundRows = rowsOf(Schema.Struct({ id: Schema.BigInt, direct: Schema.Boolean }))

/** Selects statuses of an account. */
interface AccountSelection {
  readonly onlyMedia: boolean
  /** Keeps self-replies. */
  readonly excludeReplies: boolean
  readonly excludeReblogs: boolean
  readonly excludeDirect: boolean
  /** Hashtag in any spelling. */
  readonly tagged: string | undefined
}

/** Statuses of one account that the viewer may see. */
export class AccountStatuses extends Context.Service<AccountStatuses, {
  /**
   * Returns ids, newest first; none if the account is not visible to others. Omits boosts of accounts that the viewer
   * hides; the account itself was requested, so it is not filtered.
   */
  readonly page: (
    viewer: Viewer,
    account: bigint,
    selection: AccountSelection,
    page: Page
  ) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns pinned statuses, the last pinned one first. */
  readonly pinned: (viewer: Viewer, account: bigint) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/statuses/AccountStatuses") {
  static readonly layer = Layer.effect(
    AccountStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const present = sql.literal(presentAccount("owner"))

      const page = traced("AccountStatuses.page")(
        function*(viewer: Viewer, account: bigint, selection: AccountSelection, page: Page) {
          if (page.limit === 0) return []
          const now = new Date(yield* Clock.currentTimeMillis)
          const { tail, where } = clauses(sql, "s.id", page)
          const others = viewer !== undefined && viewer !== account
          const conditions = [
            sql`s.account_id = ${account} AND s.deleted_at IS NULL AND EXISTS (
              SELECT FROM accounts owner WHERE owner.id = ${account} AND ${present} OFFSET 0)`,
            where,
            visibleTo(
              sql,
              viewer,
              "s",
              { author: account, member: true },
              others
                ? (author) =>
                  sql` AND (${author} = s.account_id OR NOT ${isHidden(sql, sql`${viewer}::bigint`, author, now)})`
                : undefined
            ),
            ...(selection.onlyMedia ? [sql`s.media_ids <> '{}'`] : []),
            ...(selection.excludeReplies
              ? [sql`(s.in_reply_to_id IS NULL OR s.in_reply_to_account_id = s.account_id)`]
              : []),
            ...(selection.excludeReblogs ? [sql`s.reblog_of_id IS NULL`] : []),
            ...(selection.excludeDirect ? [sql`s.visibility <> 'direct'`] : []),
            ...(selection.tagged === undefined ? [] : [
              sql`EXISTS (SELECT FROM statuses_tags st JOIN tags t ON t.id = st.tag_id
                WHERE st.status_id = s.id AND t.name = ${normalise(bounded(selection.tagged))} OFFSET 0)`
            ])
          ]
          const read = (...more: ReadonlyArray<Fragment>) =>
            foundRows(sql`SELECT s.id, s.visibility = 'direct' AS direct FROM statuses s
              WHERE ${sql.and([...conditions, ...more])} ${tail}`)
          const found = yield* read()
          // Only direct statuses can be held; most pages have none.
          const rows = others && found.some(({ direct }) => direct)
            ? yield* read(sql`NOT ${waitsForOthers(sql, viewer, "s")}`)
            : found
          return newestFirst(page, rows).map(({ id }) => id)
        },
        Effect.orDie
      )

      const pinned = traced("AccountStatuses.pinned")(function*(viewer: Viewer, account: bigint) {
        const rows = yield* idRows(sql`
          SELECT s.id FROM status_pins p JOIN statuses s ON s.id = p.status_id
          WHERE p.account_id = ${account} AND ${
          visibleTo(sql, viewer, "s", { author: account, member: true })
        } ORDER BY p.id DESC`)
        return rows.map(({ id }) => id)
      }, Effect.orDie)

      return AccountStatuses.of({ page, pinned })
    })
  )
}
