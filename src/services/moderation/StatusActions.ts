import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../Errors.ts"
import { exceeds } from "../html/Text.ts"
import type { AccountId } from "../Ids.ts"
import { idRows } from "../Rows.ts"
import { AuditLog, LostAct } from "../staff/AuditLog.ts"
import { requireRank, standingOf } from "../staff/Rank.ts"
import { traced } from "../Traced.ts"
import { actionTextCharactersMax, type StatusActionType } from "./ActionTypes.ts"
import { ReportResolution } from "./ReportResolution.ts"
import { reportStatusesMax } from "./Reports.ts"
import { Strikes } from "./Strikes.ts"

/** What a moderator does about posts of one account. */
interface NewStatusAction {
  readonly by: AccountId
  readonly type: StatusActionType
  readonly statusIds: ReadonlyArray<bigint>
  readonly text: string
  /** The report that led to it, which ends with it. */
  readonly reportId: bigint | null
}

const strikeActions = { delete: "delete_statuses", ["mark_as_sensitive"]: "mark_statuses_as_sensitive" } as const

/** What moderators do about posts, in the transaction of a command of their author's actor. */
export class StatusActions extends Context.Service<StatusActions, {
  /** Answers the strike, and with which of the posts it is to be done: those that are still there and are not so yet. */
  readonly take: (
    author: AccountId,
    action: NewStatusAction
  ) => Effect.Effect<
    { readonly strike: bigint; readonly statusIds: ReadonlyArray<bigint> },
    LostAct | NotAllowed | RecordNotFound | Unprocessable | SqlError
  >
}>()("murmuration/services/moderation/StatusActions") {
  static readonly layer = Layer.effect(
    StatusActions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const reports = yield* ReportResolution
      const strikes = yield* Strikes
      const standing = standingOf(sql)
      const rank = requireRank(sql)
      return StatusActions.of({
        take: traced("StatusActions.take")(function*(author, { by, reportId, text, type, ...given }) {
          yield* rank(yield* standing(by, ["manageReports", "manageUsers"]), author)
          const ids = [...new Set(given.statusIds)]
          if (ids.length === 0) return yield* validationFailed("Status ids can't be blank")
          if (ids.length > reportStatusesMax) {
            return yield* validationFailed(`Status ids are too many (maximum is ${reportStatusesMax})`)
          }
          if (exceeds(text, actionTextCharactersMax)) {
            return yield* validationFailed(`Text is too long (maximum is ${actionTextCharactersMax} characters)`)
          }
          const known = yield* idRows(
            sql`SELECT id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND account_id = ${author}`
          )
          if (known.length < ids.length) return yield* new RecordNotFound()
          const about = (id: bigint | undefined) =>
            ({
              by,
              action: type === "delete" ? "destroy" : "update",
              target: { type: "status", id, label: `#${id}` }
            }) as const
          const first = about(ids[0])
          if (reportId !== null) yield* reports.requireOpen(reportId, author, first)
          const left = yield* idRows(
            sql`SELECT id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND deleted_at IS NULL
            AND (${type === "delete"} OR (NOT sensitive AND reblog_of_id IS NULL)) ORDER BY id`
          )
          if (left.length === 0) {
            return yield* new LostAct({ act: first, refusal: validationFailed("Type has been taken already") })
          }
          const statusIds = left.map(({ id }) => id)
          const strike = yield* strikes.add({
            by,
            target: author,
            action: strikeActions[type],
            text,
            statusIds,
            reportId
          })
          for (const id of statusIds) {
            yield* log.record({
              ...about(id),
              after: { ...(type === "delete" ? {} : { sensitive: true }), strike, reportId }
            })
          }
          if (reportId !== null) yield* reports.resolve(reportId, by)
          return { strike, statusIds }
        })
      })
    })
  ).pipe(Layer.provide([AuditLog.layer, ReportResolution.layer, Strikes.layer]))
}
