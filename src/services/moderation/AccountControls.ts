import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { Broadcast } from "../events/Broadcast.ts"
import * as RowChanges from "../events/RowChanges.ts"
import type { EmailAddress } from "../identity/EmailAddresses.ts"
import { MailLinks } from "../identity/MailLinks.ts"
import { type User, Users } from "../identity/Users.ts"
import { Fanouts } from "../intents/Fanouts.ts"
import { NotAllowed, RecordNotFound, type Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog } from "../staff/AuditLog.ts"
import type { Permission } from "../staff/Permissions.ts"
import { outranks, requirePermission, requireRank } from "../staff/Rank.ts"
import { Roles } from "../staff/Roles.ts"

const memorialRows = rowsOf(Schema.Struct({ memorial: Schema.Boolean }))
const roleRows = rowsOf(Schema.Struct({ roleId: Schema.BigInt }))

type Refused = NotAllowed | RecordNotFound | Unprocessable

/** Staff actions on local users other than moderation. Each is in the audit log. */
export class AccountControls extends Context.Service<AccountControls, {
  /** Starts a change of address; the new address is e-mailed a confirmation link first. */
  readonly changeEmail: (by: AccountId, target: AccountId, email: EmailAddress) => Effect.Effect<void, Refused>
  /** Resends the confirmation e-mail of an unconfirmed address. */
  readonly resend: (by: AccountId, target: AccountId) => Effect.Effect<void, Refused>
  /** Assigns a role, which must be below the staff member's own. */
  readonly changeRole: (by: AccountId, target: AccountId, roleId: bigint) => Effect.Effect<void, Refused>
  /** Turns an account into a memorial that no one can sign in to, and tells the servers of its followers. */
  readonly memorialize: (by: AccountId, target: AccountId) => Effect.Effect<void, Refused>
}>()("murmuration/services/moderation/AccountControls") {
  static readonly layer = Layer.effect(AccountControls, Effect.suspend(() => make)).pipe(
    Layer.provide([AuditLog.layer, Fanouts.layer])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts
  const tracked = yield* RowChanges.make
  const mailLinks = yield* MailLinks
  const roles = yield* Roles
  const users = yield* Users
  const standing = requirePermission(sql)
  const rank = requireRank(sql)

  /** Runs an action on a local user with a lower role. */
  const act = <A>(
    by: AccountId,
    target: AccountId,
    permission: Permission,
    work: (user: User, position: number) => Effect.Effect<A, Refused | AlreadyDone | SqlError>
  ) =>
    Effect.gen(function*() {
      const own = yield* standing(by, permission)
      const found = yield* users.find(target)
      if (Option.isNone(found)) return yield* new RecordNotFound()
      yield* rank(own, target)
      return yield* work(found.value, own.position)
    }).pipe(audit.runLogged)

  const about = ({ accountId, username }: User) => ({ type: "account", id: accountId, label: username }) as const
  const letter = (target: AccountId) =>
    Effect.flatMap(
      users.find(target),
      (user) => Option.isSome(user) ? mailLinks.sendConfirmation(user.value) : Effect.void
    )

  return AccountControls.of({
    changeEmail: traced("AccountControls.changeEmail")(function*(by, target, email) {
      yield* act(by, target, "manageUsers", (user) =>
        Effect.andThen(
          users.change(target, { unconfirmedEmail: email }),
          audit.record({ by, action: "change_email", target: about(user) })
        ))
      yield* letter(target)
    }),
    resend: traced("AccountControls.resend")(function*(by, target) {
      yield* act(
        by,
        target,
        "manageUsers",
        Effect.fnUntraced(function*(user) {
          if (user.confirmed && user.unconfirmedEmail === undefined) return yield* new NotAllowed({})
          yield* audit.record({ by, action: "resend", target: about(user) })
        })
      )
      yield* letter(target)
    }),
    changeRole: traced("AccountControls.changeRole")((by, target, roleId) =>
      act(
        by,
        target,
        "manageRoles",
        Effect.fnUntraced(function*(user, position) {
          const role = Option.getOrUndefined(yield* roles.get(roleId))
          if (role === undefined) return yield* new RecordNotFound()
          if (!outranks({ position, permissions: 0n }, role.position)) return yield* new NotAllowed({})
          const [before] = yield* roleRows(sql`SELECT role_id FROM users WHERE account_id = ${target} FOR UPDATE`)
          yield* tracked("roles")(users.change(target, { roleId: role.id }))
          yield* audit.record({
            by,
            action: "change_role",
            target: about(user),
            before: { roleId: before?.roleId },
            after: { roleId: role.id }
          })
        })
      )
    ),
    memorialize: traced("AccountControls.memorialize")((by, target) =>
      act(
        by,
        target,
        "deleteUserData",
        Effect.fnUntraced(function*(user) {
          const [was] = yield* memorialRows(sql`SELECT memorial FROM accounts WHERE id = ${target} FOR UPDATE`)
          const done = { by, action: "memorialize", target: about(user) } as const
          if (was?.memorial === true) return yield* new AlreadyDone({ act: done, refusal: new NotAllowed({}) })
          yield* tracked("account", [target])(sql`UPDATE accounts SET memorial = true WHERE id = ${target}`)
          const number = String(yield* Clock.currentTimeMillis)
          yield* fanouts.enqueue(target, { _tag: "deliver", leaves: "Profile", number })
          yield* sql.afterCommit(
            broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [target] })
          )
          yield* audit.record(done)
        })
      )
    )
  })
})
