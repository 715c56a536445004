import { Array as Arr, Clock, Context, Effect, Layer, Option, type Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { AccountId, type AppId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { PromisedEmails } from "../emails/PromisedEmails.ts"
import { NotAllowed, type Unavailable, type Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { defaultRole, givenBits, permissions, type RoleId } from "../staff/Permissions.ts"
import { Credentials } from "./Credentials.ts"
import type { EmailAddress } from "./EmailAddresses.ts"
import { alreadyTaken, distinct, type GivenEmail, type Problem, problemsOf, refusal } from "./RegistrationRules.ts"
import * as TimeZones from "./TimeZones.ts"

/** Identity of a person at an OpenID provider; both texts never change. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** A local account to create. */
interface Registration {
  readonly username: string
  readonly email: GivenEmail
  /** Undefined for a user who signs in by the identity provider only. */
  readonly password: Redacted.Redacted | undefined
  /** Identity at the provider, which becomes the user's. */
  readonly identity?: Identity | undefined
  /** If false, a moderator must approve it, unless the invite bypasses approval. */
  readonly approved: boolean
  /** True if the address is known to belong to the user; otherwise an e-mail confirms it. */
  readonly confirmed: boolean
  readonly locale?: string | undefined
  readonly timeZone?: string | undefined
  readonly reason?: string | undefined
  readonly roleId?: RoleId
  readonly createdByAppId?: AppId
  readonly inviteCode?: string | undefined
  /** Further problems that refuse it. */
  readonly problems?: ReadonlyArray<Problem>
  /** If true, a moderator must approve it, even with an invite. */
  readonly needsApproval?: boolean
  /** True if the user gave a sufficient age. The date of birth is not stored. */
  readonly ageVerified?: boolean
  /** True if the user gets the welcome e-mail after confirmation and approval. */
  readonly greeted?: boolean
  /** True if reserved usernames are allowed, for staff. */
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

/** Creates local accounts: account, actor, counters and user in one transaction, which also uses up the invite. */
export class Registrations extends Context.Service<Registrations, {
  /** Creates an account. `condition` runs first, in the same transaction. */
  readonly create: <E = never>(
    registration: Registration,
    condition?: Effect.Effect<void, E>
  ) => Effect.Effect<AccountId, E | Unprocessable | NotAllowed | Unavailable>
}>()("murmuration/services/identity/Registrations") {
  static readonly layer = Layer.effect(Registrations, Effect.suspend(() => make)).pipe(
    Layer.provide(PromisedEmails.layer)
  )
}

const bypassPermissions = permissions.inviteBypassApproval | permissions.administrator

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const credentials = yield* Credentials
  const emails = yield* PromisedEmails

  /** Uses an invite once. It counts here, so that only one sign-up gets the last use. */
  const useInvite = Effect.fnUntraced(function*(code: string, now: number) {
    const [invite] = yield* inviteRows(sql`
      UPDATE invites i SET uses = uses + 1
      FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id, roles e
      WHERE i.code = ${code} AND (i.max_uses IS NULL OR i.uses < i.max_uses)
        AND (i.expires_at IS NULL OR i.expires_at > ${new Date(now)})
        AND u.account_id = i.account_id AND e.id = ${defaultRole}
        AND NOT u.disabled AND u.approved AND u.confirmed_at IS NOT NULL AND a.suspended_at IS NULL
        AND a.moved_to_id IS NULL AND NOT a.memorial
      RETURNING i.id, i.account_id, i.autofollow, ((${
      sql.literal(givenBits)
    } | e.permissions) & ${bypassPermissions}) <> 0 AS bypasses_approval`)
    return invite === undefined ? yield* new NotAllowed({ text: "Forbidden" }) : invite
  })

  const takenFields = Effect.fnUntraced(function*(username: string, email: EmailAddress | null) {
    const [found] = yield* takenRows(sql`
      SELECT EXISTS (SELECT 1 FROM accounts WHERE lower(username) = lower(${username}) AND lower(coalesce(domain, '')) = '')
          OR EXISTS (SELECT 1 FROM retired_usernames WHERE username = lower(${username})) AS username,
        EXISTS (SELECT 1 FROM users WHERE lower(email) = lower(${email})) AS email`)
    return [
      ...(found?.username === true ? [alreadyTaken("username")] : []),
      ...(found?.email === true ? [alreadyTaken("email")] : [])
    ]
  })

  const insert = Effect.fnUntraced(
    function*(given: Registration, email: EmailAddress, passwordHash: string | undefined) {
      const now = yield* Clock.currentTimeMillis
      const at = new Date(now)
      const invite = given.inviteCode === undefined ? undefined : yield* useInvite(given.inviteCode, now)
      const approved = (given.approved || invite?.bypassesApproval === true) && given.needsApproval !== true
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
          passwordHash: passwordHash ?? null,
          roleId: given.roleId ?? defaultRole,
          locale: given.locale ?? null,
          timeZone: TimeZones.isKnown(given.timeZone ?? "") ?? null,
          reason: given.reason ?? null,
          approved,
          inviteId: invite?.id ?? null,
          ageVerifiedAt: given.ageVerified === true ? at : null,
          confirmedAt: given.confirmed ? at : null,
          createdByAppId: given.createdByAppId ?? null,
          createdAt: at
        })
      }`
      if (given.identity !== undefined) {
        const { issuer, subject } = given.identity
        yield* sql`INSERT INTO identities ${sql.insert({ issuer, subject, accountId, createdAt: at, usedAt: at })}`
      }
      if (given.greeted === true) {
        // A user who awaits approval is welcomed by the approval e-mail.
        yield* sql`INSERT INTO new_members (account_id, follows, welcome)
        VALUES (${accountId}, ${invite?.autofollow === true ? invite.accountId : null}, ${approved})`
      }
      // Others wait for approval once their address is confirmed.
      if (given.confirmed === true && !approved) yield* emails.promise("sign_up", accountId)
      return accountId
    }
  )

  const create = traced("Registrations.create")(function*<E = never>(
    given: Registration,
    condition: Effect.Effect<void, E> = Effect.void
  ) {
    const problems = distinct([
      ...problemsOf(given),
      ...(given.problems ?? []),
      ...(yield* Effect.orDie(takenFields(given.username, Result.getOrNull(given.email))))
    ])
    if (problems.length > 0 || Result.isFailure(given.email)) return yield* refusal(problems)
    const email = given.email.success
    const passwordHash = given.password === undefined ? undefined : yield* credentials.hash(given.password)
    return yield* transaction(sql)(Effect.andThen(condition, insert(given, email, passwordHash))).pipe(
      Effect.catchIf(isSqlError, (error) =>
        Option.match(lostRace(error), {
          onNone: () => Effect.die(error),
          onSome: (problem) => Effect.fail(problem === "identity" ? new NotAllowed({}) : refusal([problem]))
        }))
    )
  })
  return Registrations.of({ create })
})

/** Returns the problem if a concurrent sign-up took the username, the address or the identity before the insert. */
const lostRace = (error: SqlError): Option.Option<Problem | "identity"> => {
  if (!isSqlError(error) || error.reason._tag !== "UniqueViolation") return Option.none()
  switch (error.reason.constraint) {
    case "accounts_handle":
      return Option.some(alreadyTaken("username"))
    case "users_email":
      return Option.some(alreadyTaken("email"))
    case "identities_pkey":
      return Option.some("identity")
    default:
      return Option.none()
  }
}
