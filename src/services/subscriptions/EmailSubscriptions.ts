import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { requireCapacity } from "../database/BoundedTables.ts"
import { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Emails } from "../emails/Emails.ts"
import * as SubscriptionTexts from "../emails/SubscriptionTexts.ts"
import type { EmailAddress } from "../identity/EmailAddresses.ts"
import { offersEmails } from "../identity/EmailOffers.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { SubscriptionLinks } from "./SubscriptionLinks.ts"

/** Maximum subscribers of an account, and maximum pending subscriptions. More are refused. */
export const subscriptionsMax = 50_000
export const pendingMax = 2_000
/** Maximum subscriptions of an address that become follows when its owner signs up. */
const followsMax = 100

const offererRows = rowsOf(Schema.Struct({ username: Schema.String, displayName: Schema.String, full: Schema.Boolean }))
const subscribedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, pending: Schema.Boolean }))
const usernameRows = rowsOf(Schema.Struct({ username: Schema.String }))
const accountRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt }))

/**
 * E-mail subscriptions to public posts, if the server, the role and the author allow them. Subscriptions are private:
 * the response is the same for new and known addresses, and the owner of the address decides by a link.
 */
export class EmailSubscriptions extends Context.Service<EmailSubscriptions, {
  /**
   * E-mails a confirmation link to the address, unless it is confirmed already. `locale` is the language of the
   * e-mails.
   */
  readonly subscribe: (
    account: AccountId,
    email: EmailAddress,
    locale: string
  ) => Effect.Effect<void, RecordNotFound | Unprocessable>
  /**
   * Confirms the subscription of a link's token; returns the username of the author. Fails if the author has the
   * maximum number of subscribers; the link remains valid.
   */
  readonly confirm: (token: string) => Effect.Effect<string, RecordNotFound | Unprocessable>
  /** Returns the username of the author that a link's token subscribes to; undefined if the subscription has ended. */
  readonly find: (token: string) => Effect.Effect<string | undefined, RecordNotFound>
  readonly end: (token: string) => Effect.Effect<void, RecordNotFound>
  /** Ends all subscriptions of the user's confirmed address. Returns their authors, whom the user follows instead. */
  readonly endForUser: (user: AccountId) => Effect.Effect<ReadonlyArray<AccountId>>
}>()("murmuration/services/subscriptions/EmailSubscriptions") {
  static readonly layerNoDeps = Layer.effect(EmailSubscriptions, Effect.suspend(() => make))
  static readonly layer = EmailSubscriptions.layerNoDeps.pipe(
    Layer.provide([SubscriptionLinks.layer, UserCatalogs.layer])
  )
}

const bounded = { table: "email_subscriptions", name: "E-mail subscriptions" }
const full = validationFailed("This account accepts no more email subscriptions")

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { emailSubscriptions, localDomain: server } = yield* ServerConfig
  const catalogs = yield* UserCatalogs
  const emails = yield* Emails
  const links = yield* SubscriptionLinks

  const idOf = Effect.fnUntraced(function*(purpose: "confirm" | "unsubscribe", token: string) {
    return links.read(purpose, token) ?? (yield* new RecordNotFound())
  })

  /**
   * Stores a pending subscription, or renews it; a confirmed one is unchanged. At the maximum of pending ones all are
   * refused, so that the response does not reveal known addresses.
   */
  const store = (account: AccountId, email: string, locale: string, at: Date) =>
    requireCapacity(sql, {
      ...bounded,
      max: pendingMax,
      counted: sql`account_id = ${account} AND confirmed_at IS NULL`
    }).pipe(
      Effect.andThen(subscribedRows(sql`
        INSERT INTO email_subscriptions (id, account_id, email, locale, created_at)
        VALUES (next_id(${at.getTime()}), ${account}, ${email}, ${locale}, ${at})
        ON CONFLICT (account_id, email) DO UPDATE SET
          locale = CASE WHEN email_subscriptions.confirmed_at IS NULL THEN excluded.locale
            ELSE email_subscriptions.locale END,
          created_at = CASE WHEN email_subscriptions.confirmed_at IS NULL THEN excluded.created_at
            ELSE email_subscriptions.created_at END
        RETURNING id, confirmed_at IS NULL AS pending`)),
      transaction(sql),
      // Fails like an account with the maximum number of subscribers.
      Effect.catchTags({ SqlError: Effect.die, Unprocessable: () => Effect.fail(full) })
    )

  const subscribe = traced("EmailSubscriptions.subscribe")(
    function*(account: AccountId, given: EmailAddress, locale: string) {
      const [offerer] = emailSubscriptions
        ? yield* Effect.orDie(offererRows(sql`SELECT a.username, a.display_name,
            (SELECT count(*) FROM (SELECT FROM email_subscriptions e WHERE e.account_id = a.id
              AND e.confirmed_at IS NOT NULL LIMIT ${subscriptionsMax}) taken) >= ${subscriptionsMax} AS full
          FROM users u JOIN accounts a ON a.id = u.account_id WHERE a.id = ${account} AND ${offersEmails(sql, "u")}`))
        : []
      if (offerer === undefined) return yield* new RecordNotFound()
      const email = given.toLowerCase()
      if (offerer.full) return yield* full
      const at = new Date(yield* Clock.currentTimeMillis)
      const [stored] = yield* store(account, email, locale, at)
      if (stored?.pending !== true) return
      const about = {
        to: email,
        server,
        username: offerer.username,
        name: offerer.displayName.trim() || `@${offerer.username}`,
        unsubscribe: links.unsubscription(stored.id)
      }
      yield* emails.enqueue(Effect.map(
        catalogs.of({ locale }),
        SubscriptionTexts.confirmation({ ...about, link: links.confirmation(stored.id) })
      ))
    }
  )

  const confirm = (id: bigint) =>
    Effect.gen(function*() {
      const pending = yield* accountRows(
        sql`SELECT account_id FROM email_subscriptions WHERE id = ${id} AND confirmed_at IS NULL`
      )
      for (const { accountId } of pending) {
        yield* requireCapacity(sql, {
          ...bounded,
          max: subscriptionsMax,
          counted: sql`account_id = ${accountId} AND confirmed_at IS NOT NULL AND id <> ${id}`
        })
      }
      const at = new Date(yield* Clock.currentTimeMillis)
      return yield* usernameRows(sql`
        UPDATE email_subscriptions s SET confirmed_at = coalesce(s.confirmed_at, ${at})
        FROM users u JOIN accounts a ON a.id = u.account_id
        WHERE s.id = ${id} AND u.account_id = s.account_id AND ${offersEmails(sql, "u")} RETURNING a.username`)
    }).pipe(
      transaction(sql),
      Effect.catchTags({ SqlError: Effect.die, Unprocessable: () => Effect.fail(full) })
    )

  return EmailSubscriptions.of({
    subscribe,
    confirm: traced("EmailSubscriptions.confirm")(function*(token) {
      const id = yield* idOf("confirm", token)
      const [found] = emailSubscriptions ? yield* confirm(id) : []
      return found === undefined ? yield* new RecordNotFound() : found.username
    }),
    find: traced("EmailSubscriptions.find")(function*(token) {
      const id = yield* idOf("unsubscribe", token)
      const [found] = yield* Effect.orDie(usernameRows(sql`SELECT a.username FROM email_subscriptions s
        JOIN accounts a ON a.id = s.account_id WHERE s.id = ${id}`))
      return found?.username
    }),
    end: traced("EmailSubscriptions.end")(function*(token) {
      const id = yield* idOf("unsubscribe", token)
      yield* Effect.orDie(idRows(sql`DELETE FROM email_subscriptions WHERE id = ${id} RETURNING id`))
    }),
    endForUser: traced("EmailSubscriptions.endForUser")(function*(user) {
      const rows = yield* Effect.orDie(accountRows(sql`DELETE FROM email_subscriptions WHERE id IN (
        SELECT s.id FROM email_subscriptions s JOIN users u ON lower(u.email) = s.email
        WHERE u.account_id = ${user} AND u.confirmed_at IS NOT NULL AND s.confirmed_at IS NOT NULL
          AND s.account_id <> u.account_id ORDER BY s.id LIMIT ${
        sql.literal(String(followsMax))
      }) RETURNING account_id`))
      return rows.map(({ accountId }) => AccountId.make(accountId))
    })
  })
})
