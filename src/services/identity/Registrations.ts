import { Array as Arr, Clock, Context, Effect, Layer, Option, type Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { NotAllowed, type Unavailable, type Unprocessable } from "../Errors.ts"
import { AccountId, type AppId } from "../Ids.ts"
import { idRows, rowsOf } from "../Rows.ts"
import { everyone, givenBits, permissions, type RoleId } from "../staff/Permissions.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"
import { Credentials } from "./Credentials.ts"
import type { EmailAddress } from "./EmailAddresses.ts"
import { distinct, type GivenEmail, type Problem, problemsOf, refusal, taken } from "./RegistrationRules.ts"
import * as TimeZones from "./TimeZones.ts"

/** A local account to be. */
interface Registration {
  readonly username: string
  readonly email: GivenEmail
  readonly password: Redacted.Redacted
  /** False: a moderator has to approve it, unless the invite makes that needless. */
  readonly approved: boolean
  /** The address is known to be the owner's; else a link in a mail confirms it. */
  readonly confirmed: boolean
  readonly locale?: string | undefined
  readonly timeZone?: string | undefined
  readonly reason?: string | undefined
  readonly roleId?: RoleId
  readonly createdByAppId?: AppId
  readonly inviteCode?: string | undefined
  /** Further reasons to refuse it. */
  readonly problems?: ReadonlyArray<Problem>
  /** A moderator has to approve it, whatever the invite says. */
  readonly held?: boolean
  /** Said how old they are, and that was enough; the day is not kept. */
  readonly ageVerified?: boolean
  /** Is greeted once the address is confirmed and, where that is needed, a moderator approved. */
  readonly greeted?: boolean
  /** Names of staff may be given to staff. */
  readonly reservedAllowed?: boolean
}

const inviteRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    accountId: Schema.BigInt,
    autofollow: Schema.Boolean,
    bypassesApproval: Schema.Boolean
  })
)
const takenRows = rowsOf(Schema.Struct({ username: Schema.Boolean, email: Schema.Boolean }))

/** Makes local accounts: account, actor, figures and user in one transaction, and the invite used in it. */
export class Registrations extends Context.Service<Registrations, {
  readonly create: (
    registration: Registration
  ) => Effect.Effect<AccountId, Unprocessable | NotAllowed | Unavailable>
}>()("murmuration/services/identity/Registrations") {
  static readonly layer = Layer.effect(Registrations, Effect.suspend(() => make))
}

const bypassing = permissions.inviteBypassApproval | permissions.administrator

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const credentials = yield* Credentials

  /** The invite of a code; it is used up here, so that its last use is one person's. */
  const useInvite = Effect.fnUntraced(function*(code: string, now: number) {
    const [invite] = yield* inviteRows(sql`
      UPDATE invites i SET uses = uses + 1
      FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id, roles e
      WHERE i.code = ${code} AND (i.max_uses IS NULL OR i.uses < i.max_uses)
        AND (i.expires_at IS NULL OR i.expires_at > ${new Date(now)})
        AND u.account_id = i.account_id AND e.id = ${everyone}
        AND NOT u.disabled AND u.approved AND u.confirmed_at IS NOT NULL AND a.suspended_at IS NULL
        AND a.moved_to_id IS NULL AND NOT a.memorial
      RETURNING i.id, i.account_id, i.autofollow, ((${
      sql.literal(givenBits)
    } | e.permissions) & ${bypassing}) <> 0 AS bypasses_approval`)
    return invite === undefined ? yield* new NotAllowed({ text: "Forbidden" }) : invite
  })

  const takenFields = Effect.fnUntraced(function*(username: string, email: EmailAddress | null) {
    const [found] = yield* takenRows(sql`
      SELECT EXISTS (SELECT 1 FROM accounts WHERE lower(username) = lower(${username}) AND lower(coalesce(domain, '')) = '')
          OR EXISTS (SELECT 1 FROM retired_usernames WHERE username = lower(${username})) AS username,
        EXISTS (SELECT 1 FROM users WHERE lower(email) = lower(${email})) AS email`)
    return [
      ...(found?.username === true ? [taken("username")] : []),
      ...(found?.email === true ? [taken("email")] : [])
    ]
  })

  const insert = Effect.fnUntraced(function*(given: Registration, email: EmailAddress, passwordHash: string) {
    const now = yield* Clock.currentTimeMillis
    const at = new Date(now)
    const invite = given.inviteCode === undefined ? undefined : yield* useInvite(given.inviteCode, now)
    const approved = (given.approved || invite?.bypassesApproval === true) && given.held !== true
    const rows = yield* idRows(sql`
      INSERT INTO accounts (id, username, created_at, updated_at)
      VALUES (next_id(${now}), ${given.username}, ${at}, ${at}) RETURNING id`)
    const accountId = AccountId.make(Option.getOrThrow(Arr.head(rows)).id)
    yield* sql`INSERT INTO actors (account_id) VALUES (${accountId})`
    yield* sql`INSERT INTO account_stats (account_id) VALUES (${accountId})`
    yield* sql`INSERT INTO users ${
      sql.insert({
        accountId,
        email,
        passwordHash,
        roleId: given.roleId ?? everyone,
        locale: given.locale ?? null,
        timeZone: TimeZones.known(given.timeZone ?? "") ?? null,
        reason: given.reason ?? null,
        approved,
        inviteId: invite?.id ?? null,
        ageVerifiedAt: given.ageVerified === true ? at : null,
        confirmedAt: given.confirmed ? at : null,
        createdByAppId: given.createdByAppId ?? null,
        createdAt: at
      })
    }`
    if (given.greeted === true) {
      // Who waits for a moderator is greeted by the letter about the approval.
      yield* sql`INSERT INTO new_members (account_id, follows, welcome)
        VALUES (${accountId}, ${invite?.autofollow === true ? invite.accountId : null}, ${approved})`
    }
    return accountId
  })

  const create = traced("Registrations.create")(function*(given: Registration) {
    const problems = distinct([
      ...problemsOf(given),
      ...(given.problems ?? []),
      ...(yield* Effect.orDie(takenFields(given.username, Result.getOrNull(given.email))))
    ])
    if (problems.length > 0 || Result.isFailure(given.email)) return yield* refusal(problems)
    const email = given.email.success
    const passwordHash = yield* credentials.hash(given.password)
    return yield* transaction(sql)(insert(given, email, passwordHash)).pipe(
      Effect.catchTag("SqlError", (error) =>
        Option.match(lostRace(error), {
          onNone: () => Effect.die(error),
          onSome: (problem) => Effect.fail(refusal([problem]))
        }))
    )
  })
  return Registrations.of({ create })
})

/** Somebody else took the name or the address between the look and the insert. */
const lostRace = (error: SqlError): Option.Option<Problem> => {
  if (!isSqlError(error) || error.reason._tag !== "UniqueViolation") return Option.none()
  switch (error.reason.constraint) {
    case "accounts_handle":
      return Option.some(taken("username"))
    case "users_email":
      return Option.some(taken("email"))
    default:
      return Option.none()
  }
}
