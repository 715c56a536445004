import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { transaction } from "../database/Transactions.ts"
import { Emails } from "../emails/Emails.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { Credentials } from "../identity/Credentials.ts"
import { FreshSignIn, signInAgain } from "../identity/FreshSignIn.ts"
import { MailLinks } from "../identity/MailLinks.ts"
import { alreadyTaken, ofPassword, refusal, requireEmail } from "../identity/RegistrationRules.ts"
import { Sessions } from "../identity/Sessions.ts"
import { type User, Users } from "../identity/Users.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { SignUpBlocks } from "../moderation/SignUpBlocks.ts"
import { NotAllowed, type Unavailable, type Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"

type Refused = NotAllowed | Unprocessable | Unavailable

const wrongPassword = new NotAllowed({ text: "Wrong password." })

/** Changes of a user's own password and e-mail address. Each asks for the password again. */
export class OwnCredentials extends Context.Service<OwnCredentials, {
  /** Fails unless it is the user's password. A user without one must have signed in just now, in this browser. */
  readonly requirePassword: (
    accountId: AccountId,
    password: Redacted.Redacted
  ) => Effect.Effect<User, NotAllowed | Unavailable>
  /** Sets a new password, ends all browser sessions and password links, and tells the user. Apps stay signed in. */
  readonly changePassword: (
    accountId: AccountId,
    old: Redacted.Redacted,
    password: Redacted.Redacted
  ) => Effect.Effect<void, Refused>
  /**
   * Sends a link to the new address, which replaces the old one once the link is opened, and a notice to the old one.
   * Without confirmation by mail the address changes at once. `address` is the client's IP address.
   */
  readonly changeEmail: (
    accountId: AccountId,
    password: Redacted.Redacted,
    email: string,
    address: string | undefined
  ) => Effect.Effect<User, Refused>
}>()("murmuration/services/credentials/OwnCredentials") {
  static readonly layer = Layer.effect(OwnCredentials, Effect.suspend(() => make)).pipe(
    Layer.provide(UserCatalogs.layer)
  )
}

const make = Effect.gen(function*() {
  const tracked = yield* RowChanges.make
  const sql = yield* SqlClient.SqlClient
  const blocks = yield* SignUpBlocks
  const catalogs = yield* UserCatalogs
  const credentials = yield* Credentials
  const emails = yield* Emails
  const mailLinks = yield* MailLinks
  const sessions = yield* Sessions
  const users = yield* Users
  const { localDomain: server, signupConfirmation } = yield* ServerConfig

  const requirePassword: OwnCredentials["Service"]["requirePassword"] = traced("OwnCredentials.requirePassword")(
    function*(accountId, password) {
      const user = Option.getOrUndefined(yield* users.find(accountId))
      if (user !== undefined && user.passwordHash === undefined) {
        return (yield* FreshSignIn) ? user : yield* new NotAllowed({ text: signInAgain })
      }
      const isCorrect = yield* credentials.verify(password, user?.passwordHash)
      return user === undefined || !isCorrect ? yield* wrongPassword : user
    }
  )

  const changePassword: OwnCredentials["Service"]["changePassword"] = traced("OwnCredentials.changePassword")(
    function*(accountId, old, password) {
      const user = yield* requirePassword(accountId, old)
      const problems = ofPassword(password)
      if (problems.length > 0) return yield* refusal(problems)
      const passwordHash = yield* credentials.hash(password)
      yield* Effect.gen(function*() {
        // A concurrent change or reset wins: the old password is no longer right.
        const changed = yield* tracked("user", [accountId])(sql`UPDATE users SET password_hash = ${passwordHash}
          WHERE account_id = ${accountId} AND password_hash IS NOT DISTINCT FROM ${
          user.passwordHash ?? null
        } RETURNING 1`)
        if (changed.length === 0) return yield* wrongPassword
        yield* sql`DELETE FROM mail_tokens WHERE account_id = ${accountId} AND purpose = 'password_reset'`
        yield* sessions.endAll(accountId)
      }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))
      const letter = EmailTexts.passwordReplaced({ to: user.email, server, username: user.username })
      yield* emails.enqueue(Effect.map(catalogs.of(user), letter))
    }
  )

  const changeEmail: OwnCredentials["Service"]["changeEmail"] = traced("OwnCredentials.changeEmail")(
    function*(accountId, password, given, address) {
      const user = yield* requirePassword(accountId, password)
      const email = yield* requireEmail(given)
      const { problems } = yield* blocks.ofEmail(email, address)
      const isTaken = Option.isSome(yield* users.findByEmail(email))
      const all = [...problems, ...(isTaken && problems.length === 0 ? [alreadyTaken("email")] : [])]
      if (all.length > 0) return yield* refusal(all)
      yield* users.change(
        accountId,
        signupConfirmation === "none" || !user.confirmed ? { email } : { unconfirmedEmail: email }
      )
      const changed = Option.getOrElse(yield* users.find(accountId), () => user)
      if (signupConfirmation === "mail") yield* mailLinks.sendConfirmation(changed)
      if (user.confirmed) {
        const letter = EmailTexts.emailChanging({ to: user.email, server, username: user.username, email })
        yield* emails.enqueue(Effect.map(catalogs.of(user), letter))
      }
      return changed
    }
  )

  return OwnCredentials.of({ requirePassword, changePassword, changeEmail })
})
