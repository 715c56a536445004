import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { columnsOf } from "../database/Columns.ts"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { batched } from "../database/TransactionBatch.ts"
import { NotAllowed, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { blocks } from "../visibility/HiddenAccounts.ts"
import { revisedFields, StoredStatus } from "./StoredStatus.ts"
import { visibleTo } from "./Visibility.ts"

/** Data of a status that an actor needs to act on it. */
export const StatusTarget = StoredStatus.mapFields(
  Struct.pick([
    "id",
    "accountId",
    "local",
    "localOnly",
    "visibility",
    "interactionPolicy",
    "reblogOfId",
    ...revisedFields
  ])
)
export type StatusTarget = typeof StatusTarget.Type
/** A status as its viewer sees it; `blocking` is true if the viewer blocks its author. */
const SeenTarget = Schema.Struct({ ...StatusTarget.fields, blocking: Schema.Boolean })
type SeenTarget = typeof SeenTarget.Type
const placedRows = rowsOf(Schema.Struct({ ...SeenTarget.fields, place: Schema.Int }))
const targetRows = rowsOf(StatusTarget)
/** Parent of a reply, and the account that the reply is addressed to. */
const Parent = Schema.Struct({
  ...StoredStatus.mapFields(
    Struct.pick(["id", "accountId", "conversationId", "local", "localOnly", "visibility", "interactionPolicy"])
  ).fields,
  repliedToId: Schema.BigInt
})
export type Parent = typeof Parent.Type
const parentRows = rowsOf(Parent)
const targeted = columnsOf(StatusTarget)

interface Look {
  readonly viewer: AccountId
  readonly id: bigint
}

/** Targets of actions; a status that the account may not see does not exist (security row 56). */
export class StatusTargets extends Context.Service<StatusTargets, {
  /** The status; of a reblog, the original. */
  readonly visible: (viewer: AccountId, id: bigint) => Effect.Effect<SeenTarget, RecordNotFound | SqlError>
  /** Like `visible`, for an interaction: fails if the viewer blocks the author, as in Mastodon. */
  readonly touchable: (
    viewer: AccountId,
    id: bigint
  ) => Effect.Effect<StatusTarget, RecordNotFound | NotAllowed | SqlError>
  readonly own: (owner: AccountId, id: bigint) => Effect.Effect<StatusTarget, RecordNotFound | SqlError>
  /** Returns the parent of a reply. */
  readonly parent: (viewer: AccountId, id: bigint) => Effect.Effect<Parent, RecordNotFound | SqlError>
}>()("murmuration/services/statuses/StatusTargets") {
  static readonly layer = Layer.effect(
    StatusTargets,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = targeted.list(sql, "t")
      const visible = batched((queries: ReadonlyArray<Look>) =>
        Effect.map(
          placedRows(sql`SELECT ${columns}, look.place::int,
              ${blocks(sql, sql.literal("look.viewer"), sql.literal("t.account_id"))} AS blocking
            FROM unnest(${queries.map(({ viewer }) => viewer)}::bigint[], ${queries.map(({ id }) => id)}::bigint[])
              WITH ORDINALITY AS look (viewer, id, place)
            JOIN statuses s ON s.id = look.id JOIN statuses t ON t.id = coalesce(s.reblog_of_id, s.id)
            WHERE ${visibleTo(sql, sql.literal("look.viewer"), "s")}`),
          (rows) => {
            const found = new Map(rows.map((row) => [row.place - 1, row]))
            return (_: Look, place: number) => found.get(place)
          }
        )
      )
      const findVisible = traced("StatusTargets.visible")(function*(viewer: AccountId, id: bigint) {
        return (yield* visible({ viewer, id })) ?? (yield* new RecordNotFound())
      })
      return StatusTargets.of({
        visible: findVisible,
        touchable: Effect.fnUntraced(function*(viewer, id) {
          const target = yield* findVisible(viewer, id)
          return target.blocking ? yield* new NotAllowed() : target
        }),
        own: traced("StatusTargets.own")(function*(owner, id) {
          const [row] = yield* targetRows(sql`
            SELECT ${columns} FROM statuses t WHERE t.id = ${id} AND t.account_id = ${owner} AND t.deleted_at IS NULL`)
          return row ?? (yield* new RecordNotFound())
        }),
        parent: traced("StatusTargets.parent")(function*(viewer, id) {
          // A self-reply is addressed to the account that the first reply was addressed to, as in Mastodon.
          const [row] = yield* parentRows(sql`
            SELECT t.id, t.account_id, t.conversation_id, t.local, t.local_only, t.visibility, t.interaction_policy,
              CASE WHEN t.account_id = ${viewer} AND t.in_reply_to_account_id IS NOT NULL
                THEN t.in_reply_to_account_id ELSE t.account_id END AS replied_to_id
            FROM statuses s JOIN statuses t ON t.id = coalesce(s.reblog_of_id, s.id)
            WHERE s.id = ${id} AND ${visibleTo(sql, viewer, "s")}`)
          return row ?? (yield* new RecordNotFound({
            text: "The post you are trying to reply to does not appear to exist."
          }))
        })
      })
    })
  )
}
