import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Mailer } from "../emails/Mailer.ts"
import * as SubscriptionTexts from "../emails/SubscriptionTexts.ts"
import { plainText } from "../html/PlainText.ts"
import { offersEmails } from "../identity/EmailOffers.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { isBroadcast, visibleTo } from "../statuses/Visibility.ts"
import { bounded } from "../text/BoundedText.ts"
import { SubscriptionLinks } from "./SubscriptionLinks.ts"

/** Time in which posts are batched into one e-mail, in milliseconds, and maximum posts in an e-mail. */
const gatherMillis = 5 * 60_000
const postsMax = 20
/** Maximum authors and slices of e-mails per sweep. */
const authorsMax = 100
const slicesMax = 200
/** E-mails per slice, and maximum e-mails sent concurrently. */
const sliceMax = 30
const atOnceMax = 3
/**
 * Lease of a slice, longer than sending it takes, and pause after a slice of which no e-mail was sent; both in
 * milliseconds.
 */
const claimMillis = 15 * 60_000
const restMillis = 10 * 60_000
/** Maximum retries for receivers whose e-mail was refused while others of their slice were sent. */
const triesMax = 4

const Digest = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  statusIds: Schema.Array(Schema.BigInt),
  cursor: Schema.BigInt,
  dueAt: Timestamptz,
  createdAt: Timestamptz,
  /** Subscriptions that still need the e-mail after a partial failure; null means all. */
  receiverIds: Schema.NullOr(Schema.Array(Schema.BigInt)),
  tries: Schema.Int
})
type Digest = typeof Digest.Type
const digestRows = rowsOf(Digest)
const postRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  html: Schema.String,
  spoilerText: Schema.String,
  username: Schema.String,
  displayName: Schema.String
}))
const receiverRows = rowsOf(Schema.Struct({ id: Schema.BigInt, email: Schema.String, locale: Schema.String }))

/**
 * E-mails with public posts to subscribers. Posts are batched for five minutes, then one node sends them in slices,
 * each e-mail at least once. While the mail server is down, e-mails wait for up to two days (`Retention`). An address
 * that it refuses does not block others.
 */
export class EmailDigests extends Context.Service<EmailDigests, {
  /** Sends due e-mails, up to the limits of one sweep; any node may run it. */
  readonly sweep: Effect.Effect<void>
}>()("murmuration/services/subscriptions/EmailDigests") {
  static readonly layerNoDeps = Layer.effect(EmailDigests, Effect.suspend(() => make))
  static readonly layer = EmailDigests.layerNoDeps.pipe(Layer.provide([SubscriptionLinks.layer, UserCatalogs.layer]))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const catalogs = yield* UserCatalogs
  const links = yield* SubscriptionLinks
  const mailer = yield* Mailer

  /** Turns batches of posts that are old enough into e-mails. */
  const formDigests = Effect.fnUntraced(function*(now: number) {
    const at = new Date(now)
    yield* sql`
      WITH due AS MATERIALIZED (SELECT account_id FROM email_digest_posts GROUP BY account_id
        HAVING min(created_at) <= ${new Date(now - gatherMillis)} LIMIT ${authorsMax}),
      taken AS (DELETE FROM email_digest_posts p USING due WHERE p.account_id = due.account_id
        RETURNING p.account_id, p.status_id)
      INSERT INTO email_digests (id, account_id, status_ids, cursor, due_at, created_at)
      SELECT next_id(${now}), account_id, array_agg(status_id ORDER BY status_id), 0, ${at}, ${at}
      FROM taken GROUP BY account_id`
  })

  const claim = (now: number) =>
    digestRows(sql`UPDATE email_digests SET due_at = ${new Date(now + claimMillis)} WHERE id = (
      SELECT id FROM email_digests WHERE due_at <= ${new Date(now)} ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING id, account_id, status_ids, cursor, due_at, created_at, receiver_ids, tries`)

  /** Selects those of the posts that are still public, if their author still offers e-mails. */
  const postsOf = ({ accountId, statusIds }: Digest) =>
    postRows(sql`SELECT s.id, s.html, s.spoiler_text, a.username, a.display_name
      FROM statuses s JOIN accounts a ON a.id = s.account_id JOIN users u ON u.account_id = a.id
      WHERE s.id = ANY (${statusIds}::bigint[]) AND s.account_id = ${accountId} AND ${isBroadcast(sql, "s")}
        AND ${visibleTo(sql, undefined, "s")} AND ${offersEmails(sql, "u")}
      ORDER BY s.id LIMIT ${sql.literal(String(postsMax))}`)

  const receiversOf = ({ accountId, createdAt, cursor, receiverIds }: Digest) =>
    receiverRows(sql`SELECT id, email, locale FROM email_subscriptions
      WHERE account_id = ${accountId} AND id > ${cursor} AND confirmed_at <= ${createdAt}
        AND ${receiverIds === null ? sql`TRUE` : sql`id = ANY (${receiverIds}::bigint[])`}
      ORDER BY id LIMIT ${sql.literal(String(sliceMax))}`)

  const owned = ({ dueAt, id }: Digest) => sql`id = ${id} AND due_at = ${dueAt}`

  const slice = Effect.fnUntraced(function*(one: Digest) {
    const [posts, receivers] = [yield* postsOf(one), yield* receiversOf(one)]
    const [first] = posts
    const last = receivers.at(-1)
    if (first === undefined || last === undefined) return yield* sql`DELETE FROM email_digests WHERE ${owned(one)}`
    const { displayName, username } = first
    const shown = posts.map(({ html, id, spoilerText }) => ({
      text: spoilerText === "" ? plainText(bounded(html)) : spoilerText,
      url: Urls.status(config, username, id)
    }))
    const failed = (yield* Effect.forEach(
      receivers,
      ({ email, id, locale }) =>
        Effect.flatMap(catalogs.of({ locale }), (words) =>
          mailer.send(
            SubscriptionTexts.digest({
              to: email,
              server: config.localDomain,
              username,
              name: displayName.trim() || `@${username}`,
              unsubscribe: links.unsubscription(id),
              posts: shown
            })(words)
          )).pipe(
            Effect.as(undefined),
            Effect.catchTag(
              "EmailNotSent",
              ({ message }) => Effect.as(Effect.logInfo(`posts were not sent to subscription ${id}`, message), id)
            )
          ),
      { concurrency: atOnceMax }
    )).filter((id) => id !== undefined)
    const now = yield* Clock.currentTimeMillis
    const later = new Date(now + restMillis)
    // If all fail, the mail server is probably down, so the slice waits. A follow-up counts its tries instead, as its
    // addresses may be at fault.
    if (failed.length === receivers.length && one.receiverIds === null) {
      return yield* sql`UPDATE email_digests SET due_at = ${later} WHERE ${owned(one)}`
    }
    return yield* Effect.gen(function*() {
      const moved = yield* sql`UPDATE email_digests SET cursor = ${last.id}, due_at = ${new Date(now)}
        WHERE ${owned(one)} RETURNING id`
      if (moved.length === 0 || failed.length === 0 || one.tries >= triesMax) return
      yield* sql`INSERT INTO email_digests (id, account_id, status_ids, cursor, due_at, created_at, receiver_ids, tries)
        VALUES (next_id(${now}), ${one.accountId}, ${one.statusIds}::bigint[], 0, ${later}, ${one.createdAt},
          ${failed}::bigint[], ${one.tries + 1})`
    }).pipe(transaction(sql))
  })

  return EmailDigests.of({
    sweep: Effect.gen(function*() {
      if (!config.emailSubscriptions) return
      const now = yield* Clock.currentTimeMillis
      yield* transaction(sql)(formDigests(now))
      for (let slices = 0; slices < slicesMax; slices++) {
        const [one] = yield* claim(yield* Clock.currentTimeMillis)
        if (one === undefined) return
        yield* slice(one)
      }
    }).pipe(Effect.orDie, Effect.withSpan("EmailDigests.sweep"))
  })
})
