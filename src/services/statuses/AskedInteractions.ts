import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import { waitsForOthers } from "./HeldStatuses.ts"
import { type InteractionRequestKind, InteractionRequestRecord } from "./InteractionRequest.ts"

const askedRows = rowsOf(InteractionRequestRecord)

/** Selects interaction requests. */
interface RequestSelection {
  readonly statusId: bigint | undefined
  readonly kinds: ReadonlyArray<InteractionRequestKind>
}

/** Interaction requests about an account's statuses, for that account. */
export class InteractionRequestList extends Context.Service<InteractionRequestList, {
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<InteractionRequestRecord, RecordNotFound>
  /** Returns pending requests by accounts that the owner does not hide, newest first. */
  readonly page: (
    owner: AccountId,
    selection: RequestSelection,
    page: Page
  ) => Effect.Effect<ReadonlyArray<InteractionRequestRecord>>
}>()("murmuration/services/statuses/AskedInteractions") {
  static readonly layer = Layer.effect(
    InteractionRequestList,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Quotes count as requests if they are local, or their server sent a request.
      const asked = (owner: AccountId) =>
        sql`SELECT r.*, (SELECT i.id FROM statuses i WHERE i.id = r.part_id AND i.deleted_at IS NULL) AS interaction_id FROM (
          SELECT id, kind, account_id, status_id, interaction_id AS part_id, state, created_at, decided_at
          FROM interaction_requests WHERE target_account_id = ${owner}
          UNION ALL SELECT q.status_id, 'quote', q.account_id, q.quoted_status_id, q.status_id,
            CASE q.state WHEN 'revoked' THEN 'rejected' ELSE q.state END, q.created_at, NULL
          FROM quotes q JOIN statuses i ON i.id = q.status_id AND NOT ${waitsForOthers(sql, owner, "i")}
          WHERE q.quoted_account_id = ${owner} AND q.account_id <> ${owner} AND (i.local OR q.request_uri IS NOT NULL)
        ) r JOIN statuses s ON s.id = r.status_id AND s.deleted_at IS NULL`

      const page = traced("InteractionRequestList.page")(
        function*(owner: AccountId, { kinds, statusId }: RequestSelection, page: Page) {
          if (page.limit === 0) return []
          const now = new Date(yield* Clock.currentTimeMillis)
          const { tail, where } = clauses(sql, "r.id", page)
          const rows = yield* askedRows(sql`${asked(owner)}
            WHERE r.state = 'pending' AND s.local AND r.kind = ANY (${kinds}::text[]) AND ${where}
              AND ${statusId === undefined ? sql`true` : sql`r.status_id = ${statusId}`}
              AND (r.part_id IS NULL OR EXISTS (SELECT FROM statuses i WHERE i.id = r.part_id
                AND i.deleted_at IS NULL OFFSET 0))
              AND NOT ${isSuspended(sql, sql`r.account_id`)}
              AND NOT ${isHidden(sql, sql`${owner}::bigint`, sql`r.account_id`, now)} ${tail}`)
          return newestFirst(page, rows)
        },
        Effect.orDie
      )

      return InteractionRequestList.of({
        find: traced("InteractionRequestList.find")((owner, id) =>
          Effect.flatMap(
            Effect.orDie(askedRows(sql`${asked(owner)} WHERE r.id = ${id} AND s.local`)),
            ([row]) => row === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(row)
          )
        ),
        page
      })
    })
  )
}
