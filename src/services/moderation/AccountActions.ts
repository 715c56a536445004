import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { exceeds } from "../html/Text.ts"
import { NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog } from "../staff/AuditLog.ts"
import { requirePermission, requireRank } from "../staff/Rank.ts"
import { actionTextCharactersMax, type ActionType, type LastingType, lastingTypes } from "./ActionTypes.ts"
import { Appeals } from "./Appeals.ts"
import { CollectionActions, type ReportedCollection } from "./CollectionActions.ts"
import { type ModerationAction, ModerationActions } from "./ModerationActions.ts"
import { ReportResolution } from "./ReportResolution.ts"
import { Strikes } from "./Strikes.ts"

/** A moderation action against an account. */
interface NewAction {
  readonly by: AccountId
  readonly type: ActionType
  readonly text: string
  /** Report about the account that led to the action. */
  readonly reportId: bigint | null
}

/** Restrictions of an account by decision of moderators, without those that follow from a domain block. */
const State = Schema.Struct({
  username: Schema.String,
  domain: Schema.NullOr(Schema.String),
  isUser: Schema.Boolean,
  disable: Schema.Boolean,
  sensitive: Schema.Boolean,
  silence: Schema.Boolean,
  suspend: Schema.Boolean
})
const stateRows = rowsOf(State)

const undo = {
  disable: "enable",
  sensitive: "unsensitive",
  silence: "unsilence",
  suspend: "unsuspend"
} as const satisfies Record<LastingType, string>

/** Moderation actions by their names in the audit log. */
type Done = LastingType | "warn" | (typeof undo)[LastingType]

/** Action type for each measure of the operator. */
export const typeOf = { sensitize: "sensitive", silence: "silence", suspend: "suspend" } as const

const measures = { sensitive: "sensitize", silence: "silence", suspend: "suspend" } as const

/** Moderation actions on accounts, in the transaction of a command of the account's actor (S-022, S-023). */
export class AccountActions extends Context.Service<AccountActions, {
  /**
   * Takes an action and returns the id of its strike. Fails with `AlreadyDone` if the restriction is already in force,
   * because another moderator was faster.
   */
  readonly take: (
    target: AccountId,
    action: NewAction
  ) => Effect.Effect<bigint, AlreadyDone | NotAllowed | RecordNotFound | Unprocessable | SqlError>
  /** Sets or lifts a measure as the operator, without a strike. Returns true if something changed. */
  readonly operate: (
    target: AccountId,
    measure: ModerationAction,
    inForce: boolean
  ) => Effect.Effect<boolean, RecordNotFound | SqlError>
  /**
   * Limits an account because of a spam rule. Returns the id of the strike; undefined if the account was limited
   * already.
   */
  readonly limitForSpam: (
    target: AccountId,
    statusId: bigint | undefined
  ) => Effect.Effect<bigint | undefined, RecordNotFound | SqlError>
  /**
   * Decides an appeal; approval reverts its strike. Returns the lifted restriction, and the posts and collections that
   * are no longer marked as sensitive.
   */
  readonly decide: (
    target: AccountId,
    by: AccountId,
    appealId: bigint,
    approved: boolean
  ) => Effect.Effect<
    {
      readonly lifted: LastingType | undefined
      readonly unmarked: ReadonlyArray<bigint>
      readonly unmarkedCollections: ReadonlyArray<ReportedCollection>
    },
    AlreadyDone | NotAllowed | RecordNotFound | Unprocessable | SqlError
  >
  /** Lifts a restriction. Returns true if it was in force. */
  readonly lift: (
    target: AccountId,
    by: AccountId,
    type: LastingType
  ) => Effect.Effect<boolean, AlreadyDone | NotAllowed | RecordNotFound | SqlError>
}>()("murmuration/services/moderation/AccountActions") {
  static readonly layer = Layer.effect(AccountActions, Effect.suspend(() => make)).pipe(
    Layer.provide([
      Appeals.layer,
      AuditLog.layer,
      CollectionActions.layer,
      ModerationActions.layer,
      ReportResolution.layer,
      Strikes.layer
    ])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const log = yield* AuditLog
  const appeals = yield* Appeals
  const collections = yield* CollectionActions
  const moderationActions = yield* ModerationActions
  const reports = yield* ReportResolution
  const strikes = yield* Strikes
  const standing = requirePermission(sql)
  const rank = requireRank(sql)

  const targetOf = (id: AccountId, { domain, username }: typeof State.Type) => ({
    type: "account" as const,
    id,
    label: domain === null ? username : `${username}@${domain}`
  })
  const read = Effect.fnUntraced(function*(id: AccountId) {
    const [state] = yield* stateRows(sql`SELECT a.username, a.domain, u.account_id IS NOT NULL AS is_user,
        coalesce(u.disabled, false) AS disable, a.sensitized_at IS NOT NULL AS sensitive,
        a.silenced_at IS NOT NULL AND NOT a.silenced_by_domain AS silence,
        a.suspended_at IS NOT NULL AND NOT a.suspended_by_domain AND NOT EXISTS (SELECT FROM remote_actors o
          WHERE o.account_id = a.id AND o.suspended_by_origin) AS suspend
      FROM accounts a LEFT JOIN users u ON u.account_id = a.id WHERE a.id = ${id}`)
    return state ?? (yield* new RecordNotFound())
  })
  /** Returns true for a deleted local account, of which only the row is left. */
  const isGone = ({ domain, isUser }: typeof State.Type) => domain === null && !isUser
  const stateOf = (id: AccountId) =>
    Effect.flatMap(read(id), (state) => isGone(state) ? Effect.fail(new RecordNotFound()) : Effect.succeed(state))
  /** Returns the state for an action, which may arrive after the account was deleted. */
  const stateFor = Effect.fnUntraced(function*(id: AccountId, by: AccountId, action: Done) {
    const state = yield* read(id)
    if (!isGone(state)) return state
    return yield* new AlreadyDone({ act: { by, action, target: targetOf(id, state) }, refusal: new RecordNotFound() })
  })
  const set = (id: AccountId, type: LastingType, inForce: boolean) =>
    type === "disable"
      ? Effect.asVoid(tracked("user", [id])(sql`UPDATE users SET disabled = ${inForce} WHERE account_id = ${id}`))
      : Effect.asVoid(moderationActions.set(id, measures[type], inForce))

  const take = traced("AccountActions.take")(function*(target: AccountId, { by, reportId, text, type }: NewAction) {
    const own = yield* standing(by, type === "disable" ? "manageUsers" : ["manageUsers", "manageReports"])
    const action = type === "none" ? "warn" : type
    const state = yield* stateFor(target, by, action)
    yield* rank(own, target)
    if (type === "disable" && !state.isUser) return yield* new NotAllowed({})
    if (exceeds(text, actionTextCharactersMax)) {
      return yield* validationFailed(`Text is too long (maximum is ${actionTextCharactersMax} characters)`)
    }
    const act = { by, action, target: targetOf(target, state) } as const
    if (type !== "none" && state[type]) {
      return yield* new AlreadyDone({ act, refusal: validationFailed("Type has been taken already") })
    }
    if (reportId !== null) yield* reports.requireOpen(reportId, target, act)
    if (type !== "none") yield* set(target, type, true)
    const strike = yield* strikes.add({ by, target, action: type, text, statusIds: [], reportId })
    yield* log.record({ ...act, after: { text, reportId, strike } })
    if (type !== "none") yield* reports.resolveAll(target, by)
    else if (reportId !== null) yield* reports.resolve(reportId, by)
    return strike
  })

  const operate = traced("AccountActions.operate")(
    function*(target: AccountId, measure: ModerationAction, inForce: boolean) {
      const state = yield* stateOf(target)
      if (!(yield* moderationActions.set(target, measure, inForce))) return false
      const type = typeOf[measure]
      yield* log.record({ by: undefined, action: inForce ? type : undo[type], target: targetOf(target, state) })
      return true
    }
  )

  const limitForSpam = traced("AccountActions.limitForSpam")(
    function*(target: AccountId, statusId: bigint | undefined) {
      if (!(yield* operate(target, "silence", true))) return undefined
      const statusIds = statusId === undefined ? [] : [statusId]
      return yield* strikes.add({ by: null, target, action: "silence", text: "", statusIds, reportId: null })
    }
  )

  const lift = traced("AccountActions.lift")(function*(target: AccountId, by: AccountId, type: LastingType) {
    const own = yield* standing(by, "manageUsers")
    const state = yield* stateFor(target, by, undo[type])
    yield* rank(own, target)
    if (type === "disable" && !state.isUser) return yield* new NotAllowed({})
    // A suspension by the account's own server or by a domain block cannot be lifted here.
    const act = { by, action: undo[type], target: targetOf(target, state) }
    if (!state[type]) return type === "suspend" ? yield* new AlreadyDone({ act, refusal: new NotAllowed({}) }) : false
    yield* set(target, type, false)
    yield* log.record(act)
    return true
  })

  const marked = (ids: ReadonlyArray<bigint>) =>
    Effect.map(
      idRows(sql`SELECT id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND deleted_at IS NULL AND sensitive`),
      (rows) => rows.map(({ id }) => id)
    )

  const decide = traced("AccountActions.decide")(
    function*(target: AccountId, by: AccountId, appealId: bigint, approved: boolean) {
      yield* standing(by, "manageAppeals")
      const state = yield* stateOf(target)
      const { label } = targetOf(target, state)
      const act = {
        by,
        action: approved ? "approve" : "reject",
        target: { type: "appeal", id: appealId, label }
      } as const
      const { action, collectionIds, statusIds, strikeId } = yield* appeals.decide(
        target,
        by,
        appealId,
        approved ? "approved" : "rejected"
      ).pipe(Effect.catchTag("Unprocessable", (refusal) => new AlreadyDone({ act, refusal })))
      yield* log.record({ ...act, after: { action, strike: strikeId } })
      const type = lastingTypes.find((one) => one === action)
      const unmarks = approved && action === "mark_statuses_as_sensitive"
      const unmarked = unmarks ? yield* marked(statusIds) : []
      const unmarkedCollections = unmarks
        ? (yield* collections.find(target, collectionIds)).filter(({ gone, sensitive }) => !gone && sensitive)
        : []
      if (!approved || type === undefined || !state[type]) return { lifted: undefined, unmarked, unmarkedCollections }
      yield* set(target, type, false)
      yield* log.record({ by, action: undo[type], target: targetOf(target, state), after: { appealId } })
      return { lifted: type, unmarked, unmarkedCollections }
    }
  )

  return AccountActions.of({ take, operate, limitForSpam, lift, decide })
})
