import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows } from "../database/Rows.ts"
import { exceeds } from "../html/Text.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog } from "../staff/AuditLog.ts"
import { requirePermission, requireRank } from "../staff/Rank.ts"
import { actionTextCharactersMax, type StatusActionType } from "./ActionTypes.ts"
import { CollectionActions, type ReportedCollection } from "./CollectionActions.ts"
import { ReportResolution } from "./ReportResolution.ts"
import { reportCollectionsMax, reportStatusesMax } from "./Reports.ts"
import { Strikes } from "./Strikes.ts"

/** A moderation action on posts and collections of one account. */
interface NewStatusAction {
  readonly by: AccountId
  readonly type: StatusActionType
  readonly statusIds: ReadonlyArray<bigint>
  /** Collections, in addition to statuses or instead. */
  readonly collectionIds?: ReadonlyArray<bigint>
  readonly text: string
  /** Report that led to the action, which resolves it. */
  readonly reportId: bigint | null
}

const strikeActions = { delete: "delete_statuses", ["mark_as_sensitive"]: "mark_statuses_as_sensitive" } as const

/** Moderation actions on posts and collections, in the transaction of a command of the author's actor. */
export class StatusActions extends Context.Service<StatusActions, {
  /**
   * Returns the id of the strike, and the posts and collections that still exist and are not in the wanted state yet.
   */
  readonly take: (
    author: AccountId,
    action: NewStatusAction
  ) => Effect.Effect<
    {
      readonly strike: bigint
      readonly statusIds: ReadonlyArray<bigint>
      readonly collections: ReadonlyArray<ReportedCollection>
    },
    AlreadyDone | NotAllowed | RecordNotFound | Unprocessable | SqlError
  >
}>()("murmuration/services/moderation/StatusActions") {
  static readonly layer = Layer.effect(
    StatusActions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const collectionActions = yield* CollectionActions
      const reports = yield* ReportResolution
      const strikes = yield* Strikes
      const standing = requirePermission(sql)
      const rank = requireRank(sql)
      return StatusActions.of({
        take: traced("StatusActions.take")(function*(author, { by, reportId, text, type, ...given }) {
          yield* rank(yield* standing(by, ["manageReports", "manageUsers"]), author)
          const ids = [...new Set(given.statusIds)]
          const collectionIds = [...new Set(given.collectionIds ?? [])]
          if (ids.length + collectionIds.length === 0) return yield* validationFailed("Status ids can't be blank")
          if (ids.length > reportStatusesMax) {
            return yield* validationFailed(`Status ids are too many (maximum is ${reportStatusesMax})`)
          }
          if (collectionIds.length > reportCollectionsMax) {
            return yield* validationFailed(`Collection ids are too many (maximum is ${reportCollectionsMax})`)
          }
          if (exceeds(text, actionTextCharactersMax)) {
            return yield* validationFailed(`Text is too long (maximum is ${actionTextCharactersMax} characters)`)
          }
          const known = yield* idRows(
            sql`SELECT id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND account_id = ${author}`
          )
          const named = yield* collectionActions.find(author, collectionIds)
          if (known.length < ids.length) return yield* new RecordNotFound()
          const action = type === "delete" ? "destroy" : "update"
          const about = (id: bigint | undefined) =>
            ({ by, action, target: { type: "status", id, label: `#${id}` } }) as const
          const aboutCollection = ({ id, name }: Pick<ReportedCollection, "id" | "name">) =>
            ({ by, action, target: { type: "collection", id, label: name } }) as const
          const [collectionId = 0n] = collectionIds
          const first = ids.length > 0
            ? about(ids[0])
            : aboutCollection(named[0] ?? { id: collectionId, name: `#${collectionId}` })
          const alreadyTaken = new AlreadyDone({ act: first, refusal: validationFailed("Type has been taken already") })
          if (named.length < collectionIds.length) {
            return yield* (yield* collectionActions.removedBefore(author, collectionIds))
              ? alreadyTaken
              : new RecordNotFound()
          }
          if (reportId !== null) yield* reports.requireOpen(reportId, author, first)
          const left = yield* idRows(
            sql`SELECT id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND deleted_at IS NULL
            AND (${type === "delete"} OR (NOT sensitive AND reblog_of_id IS NULL)) ORDER BY id`
          )
          const collections = named.filter(({ gone, sensitive }) => !gone && (type === "delete" || !sensitive))
          if (left.length + collections.length === 0) return yield* alreadyTaken
          const statusIds = left.map(({ id }) => id)
          const strike = yield* strikes.add({
            by,
            target: author,
            action: strikeActions[type],
            text,
            statusIds,
            collections,
            reportId
          })
          const after = { ...(type === "delete" ? {} : { sensitive: true }), strike, reportId }
          for (const id of statusIds) yield* log.record({ ...about(id), after })
          for (const one of collections) yield* log.record({ ...aboutCollection(one), after })
          if (reportId !== null) yield* reports.resolve(reportId, by)
          return { strike, statusIds, collections }
        })
      })
    })
  ).pipe(Layer.provide([AuditLog.layer, CollectionActions.layer, ReportResolution.layer, Strikes.layer]))
}
