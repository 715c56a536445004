import { Clock, Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { AccountId, AppId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Broadcast } from "../events/Broadcast.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { ActorPath } from "../instance/Urls.ts"
import { Tokens } from "../oauth/Tokens.ts"
import type { Unavailable, Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import type { RoleId } from "../staff/Permissions.ts"
import { Credentials } from "./Credentials.ts"
import type { EmailAddress } from "./EmailAddresses.ts"
import { alreadyTaken, ofPassword, refusal } from "./RegistrationRules.ts"
import { Sessions } from "./Sessions.ts"

/** User of a local account: credentials and state. */
export interface User {
  readonly accountId: AccountId
  readonly username: string
  readonly actorPath: ActorPath
  readonly email: string
  /** Address that replaces `email` once it is confirmed. */
  readonly unconfirmedEmail: string | undefined
  /** Undefined for a user who signs in by the identity provider only. */
  readonly passwordHash: string | undefined
  readonly confirmed: boolean
  readonly approved: boolean
  /** True if the user is disabled by a moderator, suspended or memorial. */
  readonly disabled: boolean
  /** State of the second factor; `missing` if the role has no permissions without one. */
  readonly secondFactor: "on" | "off" | "missing"
  readonly createdByAppId: AppId | undefined
  /** Language of e-mails and pages for the user (BCP 47). */
  readonly locale: string | undefined
}

/** Changes to a user by the server or staff; absent fields stay unchanged. */
interface UserChange {
  readonly email?: EmailAddress
  /** Replaces `email` once it is confirmed. */
  readonly unconfirmedEmail?: EmailAddress
  readonly roleId?: RoleId
  readonly confirmed?: true
  /** If false, a moderator must approve the user. */
  readonly approved?: boolean
  readonly disabled?: boolean
}

/** Users: the private side of local accounts. */
export class Users extends Context.Service<Users, {
  readonly find: (accountId: AccountId) => Effect.Effect<Option.Option<User>>
  readonly findByEmail: (email: EmailAddress) => Effect.Effect<Option.Option<User>>
  readonly findByUsername: (username: string) => Effect.Effect<Option.Option<User>>
  /**
   * Changes a user and invalidates caches on all nodes. Disabling closes the user's streams; a new address invalidates
   * all links in e-mails.
   */
  readonly change: (accountId: AccountId, change: UserChange) => Effect.Effect<void, Unprocessable>
  /**
   * Sets the password and signs the user out everywhere: all sessions, tokens and codes end. `condition` runs first, in
   * the same transaction.
   */
  readonly setPassword: <E = never>(
    accountId: AccountId,
    password: Redacted.Redacted,
    condition?: Effect.Effect<void, E>
  ) => Effect.Effect<void, E | Unprocessable | Unavailable>
  readonly signedIn: (accountId: AccountId) => Effect.Effect<void>
  /** Hashes the password of a user again; does nothing if the password was changed in the meantime. */
  readonly rehash: (user: User, password: Redacted.Redacted) => Effect.Effect<void, Unavailable>
}>()("murmuration/services/identity/Users") {
  static readonly layerNoDeps = Layer.effect(Users, Effect.suspend(() => make))
  static readonly layer = Users.layerNoDeps.pipe(Layer.provide(Sessions.layer))
}

const Row = Schema.Struct({
  accountId: AccountId,
  username: Schema.String,
  actorPath: ActorPath,
  email: Schema.String,
  unconfirmedEmail: Schema.NullOr(Schema.String),
  passwordHash: Schema.NullOr(Schema.String),
  confirmed: Schema.Boolean,
  approved: Schema.Boolean,
  disabled: Schema.Boolean,
  secondFactor: Schema.Literals(["on", "off", "missing"]),
  createdByAppId: Schema.NullOr(AppId),
  locale: Schema.NullOr(Schema.String)
})
type Row = typeof Row.Type
const userRows = rowsOf(Row)

const userOf = (row: Row): User => ({
  ...row,
  passwordHash: row.passwordHash ?? undefined,
  unconfirmedEmail: row.unconfirmedEmail ?? undefined,
  createdByAppId: row.createdByAppId ?? undefined,
  locale: row.locale ?? undefined
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const credentials = yield* Credentials
  const tokens = yield* Tokens
  const sessions = yield* Sessions
  const broadcast = yield* Broadcast

  const where = Effect.fnUntraced(function*(condition: ReturnType<typeof sql.and>) {
    const [row] = yield* userRows(sql`
      SELECT u.account_id, a.username, a.actor_path, u.email, u.unconfirmed_email, u.password_hash, u.approved, u.created_by_app_id, u.locale,
        u.confirmed_at IS NOT NULL AS confirmed, u.disabled OR a.suspended_at IS NOT NULL OR a.memorial AS disabled,
        CASE WHEN u.otp_enabled_at IS NOT NULL THEN 'on' WHEN r.require_2fa THEN 'missing' ELSE 'off' END AS second_factor
      FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id WHERE ${condition}`)
    return row === undefined ? Option.none() : Option.some(userOf(row))
  }, Effect.orDie)

  const change = traced("Users.change")(function*(accountId: AccountId, given: UserChange) {
    const at = new Date(yield* Clock.currentTimeMillis)
    const { approved, confirmed, disabled, email, roleId, unconfirmedEmail } = given
    const links = email !== undefined || unconfirmedEmail !== undefined
    yield* tracked("user", [accountId])(sql`UPDATE users SET email = coalesce(${email ?? null}, email),
        unconfirmed_email = coalesce(${unconfirmedEmail ?? null}, unconfirmed_email), role_id = coalesce(${
      roleId ?? null
    }, role_id),
        confirmed_at = CASE WHEN ${confirmed ?? false} THEN coalesce(confirmed_at, ${at}) ELSE confirmed_at END,
        approved = coalesce(${approved ?? null}, approved), disabled = coalesce(${disabled ?? null}, disabled)
      WHERE account_id = ${accountId}`).pipe(
      Effect.andThen(sql`DELETE FROM mail_tokens WHERE ${links} AND account_id = ${accountId}`),
      transaction(sql),
      Effect.catchIf(
        (error) => isSqlError(error) && error.reason._tag === "UniqueViolation",
        () => Effect.fail(refusal([alreadyTaken("email")]))
      ),
      Effect.catchTag("SqlError", Effect.die)
    )
    if (disabled === true) {
      yield* sql.afterCommit(broadcast.publish({ _tag: "Revoked", tokenIds: [], accountIds: [accountId] }))
    }
  })

  const setPassword = traced("Users.setPassword")(function*<E = never>(
    accountId: AccountId,
    password: Redacted.Redacted,
    condition: Effect.Effect<void, E> = Effect.void
  ) {
    const problems = ofPassword(password)
    if (problems.length > 0) return yield* refusal(problems)
    const passwordHash = yield* credentials.hash(password)
    yield* Effect.gen(function*() {
      yield* condition
      yield* tracked("user", [accountId])(
        sql`UPDATE users SET password_hash = ${passwordHash} WHERE account_id = ${accountId}`
      )
      yield* sessions.endAll(accountId)
      yield* tokens.revoke({ accountId })
    }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))
  })

  const signedIn = traced("Users.signedIn")(function*(accountId: AccountId) {
    const at = new Date(yield* Clock.currentTimeMillis)
    yield* sql`UPDATE users SET last_sign_in_at = ${at} WHERE account_id = ${accountId}`
  }, Effect.orDie)

  const rehash = traced("Users.rehash")(function*(user: User, password: Redacted.Redacted) {
    const { accountId, passwordHash: before } = user
    const passwordHash = yield* credentials.hash(password)
    yield* tracked("user", [accountId])(sql`UPDATE users SET password_hash = ${passwordHash}
      WHERE account_id = ${accountId} AND password_hash = ${before}`).pipe(Effect.orDie)
  })

  return Users.of({
    find: traced("Users.find")((accountId) => where(sql`u.account_id = ${accountId}`)),
    findByEmail: traced("Users.findByEmail")((email) => where(sql`lower(u.email) = lower(${email})`)),
    findByUsername: traced("Users.findByUsername")((username) =>
      where(sql`lower(a.username) = lower(${username}) AND lower(coalesce(a.domain, '')) = ''`)
    ),
    change,
    setPassword,
    signedIn,
    rehash
  })
})
