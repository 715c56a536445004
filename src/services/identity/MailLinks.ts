import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { AccountId, AppId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Emails } from "../emails/Emails.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import type { Email } from "../emails/Mailer.ts"
import { PromisedEmails } from "../emails/PromisedEmails.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { NotificationWriter } from "../feeds/NotificationWriter.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { RecordNotFound, type Unavailable, type Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import type { EmailAddress } from "./EmailAddresses.ts"
import { type User, Users } from "./Users.ts"

/** Lifetime of links in e-mails, in milliseconds. */
const confirmationMillisMax = 2 * 24 * 3_600_000
const passwordResetMillisMax = 6 * 3_600_000

type Purpose = "confirmation" | "password_reset"

/** Result of a confirmation. */
interface Confirmed {
  readonly accountId: AccountId
  /** App to return to. */
  readonly app: Option.Option<AppId>
  /** True if the user still awaits approval. */
  readonly waits: boolean
  /** True if it is the first confirmed address of the user. */
  readonly first: boolean
}

const confirmedRows = rowsOf(Schema.Struct({ approved: Schema.Boolean, first: Schema.Boolean }))
const emailRows = rowsOf(Schema.Struct({ email: Schema.String }))

/** Links in e-mails. A link is valid for the address that it was sent to, and proves that its mail is read. */
export class MailLinks extends Context.Service<MailLinks, {
  /** Sends the link that confirms the user's address; it leads on to the app of the sign-up. */
  readonly sendConfirmation: (user: User) => Effect.Effect<void>
  /** Sends the confirmation link again, by address. Takes the same time whether or not the user exists. */
  readonly requestConfirmation: (email: EmailAddress | undefined) => Effect.Effect<void>
  /** Returns true if the link confirms the first address of a user. */
  readonly isFirst: (secret: string) => Effect.Effect<boolean>
  /** Puts the link's user into the approval queue, if no address was confirmed before. */
  readonly askModerator: (secret: string) => Effect.Effect<void>
  /** Makes the address the user's own. The link can be used again until it expires. */
  readonly confirm: (secret: string) => Effect.Effect<Confirmed, RecordNotFound>
  /** Sends the link to set a new password; hides whether the user exists, as `requestConfirmation` does. */
  readonly requestPasswordReset: (email: EmailAddress | undefined) => Effect.Effect<void>
  /** Returns true if a new password can be set with this link. */
  readonly opensPasswordReset: (secret: string) => Effect.Effect<boolean>
  /**
   * Sets a new password and confirms the address. Works once, and only if the link was sent to the user's current
   * address.
   */
  readonly resetPassword: (
    secret: string,
    password: Redacted.Redacted
  ) => Effect.Effect<void, RecordNotFound | Unprocessable | Unavailable>
}>()("murmuration/services/identity/MailLinks") {
  static readonly layerNoDeps = Layer.effect(MailLinks, Effect.suspend(() => make))
  static readonly layer = MailLinks.layerNoDeps.pipe(
    Layer.provide([NotificationWriter.layer, PromisedEmails.layer, Users.layer, UserCatalogs.layer])
  )
}

const Row = Schema.Struct({
  accountId: Schema.BigInt,
  email: Schema.String,
  redirectAppId: Schema.NullOr(Schema.BigInt)
})
type Row = typeof Row.Type
const linkRows = rowsOf(Row)

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { captcha, localDomain, provider, publicUrl } = yield* ServerConfig
  const tracked = yield* RowChanges.make
  const emails = yield* Emails
  const promised = yield* PromisedEmails
  const secrets = yield* OpaqueSecrets
  const users = yield* Users
  const catalogs = yield* UserCatalogs
  const writer = yield* NotificationWriter

  /** Creates a link and deletes older ones of the same purpose, so that only the latest e-mail works. */
  const create = Effect.fnUntraced(
    function*(user: User, purpose: Purpose, email: string, lifeMillis: number) {
      const secret = yield* secrets.make
      const now = yield* Clock.currentTimeMillis
      yield* sql`DELETE FROM mail_tokens WHERE account_id = ${user.accountId} AND purpose = ${purpose}`
      yield* sql`INSERT INTO mail_tokens ${
        sql.insert({
          tokenHash: yield* secrets.hash(secret),
          accountId: user.accountId,
          purpose,
          email,
          redirectAppId: user.createdByAppId ?? null,
          expiresAt: new Date(now + lifeMillis),
          createdAt: new Date(now)
        })
      }`
      return Redacted.value(secret)
    },
    transaction(sql),
    Effect.orDie
  )

  const find = Effect.fnUntraced(function*(secret: string, purpose: Purpose) {
    const now = new Date(yield* Clock.currentTimeMillis)
    const [row] = yield* linkRows(sql`SELECT account_id, email, redirect_app_id FROM mail_tokens
      WHERE token_hash = ${yield* secrets.hash(secret)} AND purpose = ${purpose} AND expires_at > ${now}
        AND EXISTS (SELECT FROM users u WHERE u.account_id = mail_tokens.account_id
          AND mail_tokens.email IN (u.email, u.unconfirmed_email))`)
    return row === undefined ? Option.none() : Option.some(row)
  }, Effect.orDie)

  const confirmationLetter = Effect.fnUntraced(function*(user: User) {
    const email = user.unconfirmedEmail ?? user.email
    const secret = yield* create(user, "confirmation", email, confirmationMillisMax)
    const query = new URLSearchParams([["confirmation_token", secret]])
    if (user.createdByAppId !== undefined) query.set("redirect_to_app", "true")
    const link = `${publicUrl}/auth/confirmation?${query}`
    const { approved, confirmed, username } = user
    if (confirmed) {
      return EmailTexts.newAddress({ to: email, server: localDomain, username, link })(yield* catalogs.of(user))
    }
    return EmailTexts.confirmation({ to: email, server: localDomain, username, link, waits: !approved })(
      yield* catalogs.of(user)
    )
  })

  /**
   * Sends `emailFor` the user with this address. The e-mail is made after the response, to hide whether the user
   * exists.
   */
  const postTo = (email: EmailAddress | undefined, emailFor: (user: User) => Effect.Effect<Email | undefined>) => {
    if (email === undefined) return Effect.void
    return emails.enqueue(Effect.gen(function*() {
      const user = yield* users.findByEmail(email)
      return Option.isSome(user) ? yield* emailFor(user.value) : undefined
    }))
  }

  const confirm = traced("MailLinks.confirm")(function*(secret: string) {
    const link = Option.getOrUndefined(yield* find(secret, "confirmation"))
    if (link === undefined) return yield* new RecordNotFound()
    const at = new Date(yield* Clock.currentTimeMillis)
    const [confirmed] = yield* confirmedRows(
      tracked("user", [link.accountId])(sql`
      UPDATE users SET email = ${link.email}, unconfirmed_email = NULL, confirmed_at = coalesce(confirmed_at, ${at})
      WHERE account_id = ${link.accountId} AND ${link.email} IN (email, unconfirmed_email)
      RETURNING approved, confirmed_at = ${at} AS first`)
    ).pipe(
      // Links sent to a previous address end, as someone else may read its mail.
      Effect.tap(() => sql`DELETE FROM mail_tokens WHERE account_id = ${link.accountId} AND email <> ${link.email}`),
      Effect.tap(([one]) =>
        one?.first !== true
          ? Effect.void
          : one.approved
          ? writer.notifyStaff("admin.sign_up", link.accountId, 0n)
          : promised.promise("sign_up", link.accountId)
      ),
      transaction(sql),
      // Another user has taken the address in the meantime.
      Effect.catchIf((error) => isSqlError(error) && error.reason._tag === "UniqueViolation", () => Effect.succeed([])),
      Effect.orDie
    )
    if (confirmed === undefined) return yield* new RecordNotFound()
    const accountId = AccountId.make(link.accountId)
    return {
      accountId,
      app: link.redirectAppId === null ? Option.none() : Option.some(AppId.make(link.redirectAppId)),
      waits: !confirmed.approved,
      first: confirmed.first
    }
  })

  /** Consumes a password link. Confirms the address that the link was sent to. */
  const use = Effect.fnUntraced(
    function*(accountId: AccountId, hash: Uint8Array) {
      const [user] = yield* emailRows(sql`
        SELECT email FROM users WHERE account_id = ${accountId} FOR NO KEY UPDATE`)
      const [link] = yield* emailRows(sql`
        DELETE FROM mail_tokens WHERE token_hash = ${hash} RETURNING email`)
      if (link === undefined || link.email !== user?.email) return yield* new RecordNotFound()
      yield* Effect.orDie(users.change(accountId, { confirmed: true }))
    },
    Effect.catchTag("SqlError", Effect.die)
  )

  const resetPassword: MailLinks["Service"]["resetPassword"] = traced("MailLinks.resetPassword")(
    function*(secret, password) {
      const link = Option.getOrUndefined(yield* find(secret, "password_reset"))
      if (link === undefined || provider?.only === true) return yield* new RecordNotFound()
      const accountId = AccountId.make(link.accountId)
      yield* users.setPassword(accountId, password, use(accountId, yield* secrets.hash(secret)))
      const user = Option.getOrUndefined(yield* users.find(accountId))
      if (user === undefined) return
      const changed = EmailTexts.passwordChanged({ to: user.email, server: localDomain, username: user.username })
      yield* emails.enqueue(Effect.map(catalogs.of(user), changed))
    }
  )

  return MailLinks.of({
    sendConfirmation: traced("MailLinks.sendConfirmation")((user) => emails.enqueue(confirmationLetter(user))),
    requestConfirmation: traced("MailLinks.requestConfirmation")((email) =>
      postTo(email, (user) => user.confirmed ? Effect.undefined : confirmationLetter(user))
    ),
    isFirst: traced("MailLinks.isFirst")(function*(secret) {
      const link = Option.getOrUndefined(yield* find(secret, "confirmation"))
      if (link === undefined) return false
      const rows = yield* sql`SELECT FROM users WHERE account_id = ${link.accountId} AND confirmed_at IS NULL`
      return rows.length > 0
    }, Effect.orDie),
    askModerator: traced("MailLinks.askModerator")(function*(secret) {
      const link = Option.getOrUndefined(yield* find(secret, "confirmation"))
      if (link === undefined) return
      yield* tracked("user", [link.accountId])(
        sql`UPDATE users SET approved = false WHERE account_id = ${link.accountId} AND confirmed_at IS NULL`
      )
    }, Effect.orDie),
    confirm,
    requestPasswordReset: traced("MailLinks.requestPasswordReset")((email) =>
      postTo(
        email,
        Effect.fnUntraced(function*(user) {
          // A reset would confirm the address and bypass the captcha.
          if (user.disabled || provider?.only === true || (captcha.kind !== "off" && !user.confirmed)) return undefined
          const secret = yield* create(user, "password_reset", user.email, passwordResetMillisMax)
          const link = `${publicUrl}/auth/password/edit?reset_password_token=${secret}`
          return EmailTexts.passwordReset({ to: user.email, server: localDomain, username: user.username, link })(
            yield* catalogs.of(user)
          )
        })
      )
    ),
    opensPasswordReset: traced("MailLinks.opensPasswordReset")((secret) =>
      Effect.map(find(secret, "password_reset"), Option.isSome)
    ),
    resetPassword
  })
})
