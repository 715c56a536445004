import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId, idAt } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { awayMillis, EmailedType } from "../emails/EmailLists.ts"
import type { Email } from "../emails/Mailer.ts"
import { newNotifications } from "../emails/NotificationTexts.ts"
import { presenceMillis } from "../emails/Presence.ts"
import { PromisedEmails } from "../emails/PromisedEmails.ts"
import { UnsubscribeLinks } from "../emails/UnsubscribeLinks.ts"
import { type NotificationRecord, Notifications } from "../feeds/Notifications.ts"
import { plainText } from "../html/PlainText.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { notificationTitle } from "../notifications/NotificationTitles.ts"
import { traced } from "../runtime/Traced.ts"
import { Statuses } from "../statuses/Statuses.ts"
import { isPublicOrUnlisted } from "../statuses/Visibility.ts"
import { bounded } from "../text/BoundedText.ts"
import { userStateSql } from "../visibility/UserStates.ts"
import { Accounts } from "./Accounts.ts"

/** Maximum users per batch, and batches per sweep. */
const batchMax = 200
const batchesMax = 50
/** Maximum notifications in an e-mail. */
const shownMax = 20
/** Maximum characters of a name. */
const nameCharactersMax = 80

const dueRows = rowsOf(
  Schema.Struct({ accountId: AccountId, after: Schema.BigInt, newest: Schema.NullOr(Schema.BigInt) })
)
const receiverRows = rowsOf(Schema.Struct({
  email: Schema.String,
  locale: Schema.NullOr(Schema.String),
  types: Schema.Array(Schema.String),
  seenAt: Timestamptz,
  lastReadId: Schema.BigInt
}))
const isEmailed = Schema.is(EmailedType)

/**
 * Positions in the promise of an e-mail: the newest notification of the e-mail before it, and of this one. Promises from
 * before an upgrade lack the second.
 */
const Details = Schema.Struct({
  after: Schema.BigIntFromString,
  newest: Schema.optionalKey(Schema.BigIntFromString)
})
const decodeDetails = Schema.decodeUnknownEffect(Details)
const encodeDetails = Schema.encodeSync(Details)

/**
 * E-mails about unread notifications to users who chose them and are away: at most one e-mail an hour, with all
 * notifications since the user was last seen.
 */
export class NotificationEmails extends Context.Service<NotificationEmails, {
  /** Promises the due e-mails, up to the limits of one sweep; any node may run it. */
  readonly sweep: Effect.Effect<void>
  /** Returns the promised e-mail, unless the user read the notifications in the meantime. */
  readonly emailTo: (accountId: bigint, details: unknown) => Effect.Effect<ReadonlyArray<Email>, SqlError>
}>()("murmuration/services/identity/NotificationEmails") {
  static readonly layerNoDeps = Layer.effect(NotificationEmails, Effect.suspend(() => make))
  static readonly layer = NotificationEmails.layerNoDeps.pipe(
    Layer.provide([PromisedEmails.layer, UnsubscribeLinks.layer, UserCatalogs.layer])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  const catalogs = yield* UserCatalogs
  const config = yield* ServerConfig
  const links = yield* UnsubscribeLinks
  const notifications = yield* Notifications
  const promises = yield* PromisedEmails
  const statuses = yield* Statuses

  /**
   * Takes a batch of due users, and promises e-mails to those with new notifications. Users wait whose last e-mail is
   * not sent yet, as when the mail server is down. The type is in an expression, as in `selectionCondition` of `Notifications.ts`.
   */
  const batch = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const away = new Date(now - awayMillis)
    const later = new Date(now + awayMillis)
    const rows = yield* dueRows(sql`
      WITH due AS MATERIALIZED (
        SELECT account_id, types, seen_at, greatest(emailed_id, (floor(extract(epoch FROM seen_at) * 1000)::bigint << 16),
          coalesce((SELECT last_read_id FROM markers m
            WHERE m.account_id = c.account_id AND m.timeline = 'notifications'), 0)) AS after
        FROM email_choices c WHERE due_at <= ${new Date(now)}
        ORDER BY due_at LIMIT ${rowsMax(sql, batchMax)} FOR UPDATE OF c SKIP LOCKED),
      checked AS MATERIALIZED (
        SELECT account_id, after, CASE WHEN seen_at <= ${away} AND NOT EXISTS (SELECT FROM promised_emails p
            WHERE p.subject_id = due.account_id AND p.kind IN ('notifications', 'email'))
          THEN (SELECT max(n.id) FROM notifications n WHERE n.account_id = due.account_id AND n.id > due.after
            AND NOT n.filtered AND (n.type || '') = ANY (due.types)) END AS newest
        FROM due)
      UPDATE email_choices c SET emailed_id = coalesce(checked.newest, c.emailed_id),
        due_at = CASE WHEN checked.newest IS NOT NULL THEN ${later}
          ELSE greatest(c.seen_at + ${awayMillis} * interval '1 millisecond', ${new Date(now + presenceMillis)}) END
      FROM checked WHERE c.account_id = checked.account_id
      RETURNING c.account_id, checked.after, checked.newest`)
    for (const { accountId, after, newest } of rows) {
      if (newest !== null) yield* promises.promise("notifications", accountId, encodeDetails({ after, newest }))
    }
    return rows.length
  }).pipe(transaction(sql))

  /** Returns the name, the link and the text of a notification. The text of other posts than public ones stays here. */
  const shownOf = Effect.fnUntraced(function*(records: ReadonlyArray<NotificationRecord>) {
    const posts = yield* statuses.load(records.flatMap(({ statusId }) => statusId ?? []))
    const people = yield* accounts.load([
      ...records.map(({ fromAccountId }) => fromAccountId),
      ...posts.map(({ accountId }) => accountId)
    ])
    return ({ fromAccountId, reportId, statusId }: NotificationRecord) => {
      const from = people.find(({ id }) => id === fromAccountId)
      const post = posts.find(({ id }) => id === statusId)
      const author = people.find(({ id }) => id === post?.accountId)
      if (from === undefined) return undefined
      const profile = Urls.profile(config, Urls.acct(from))
      return {
        name: (from.displayName.trim() || from.username).slice(0, nameCharactersMax).replaceAll(/\s+/g, " ")
          .toWellFormed(),
        text: post === undefined || !isPublicOrUnlisted(post.visibility)
          ? ""
          : post.spoilerText || plainText(bounded(post.html)),
        url: reportId !== undefined
          ? `${config.publicUrl}/admin/reports/${reportId}`
          : post === undefined || author === undefined
          ? profile
          : Urls.status(config, Urls.acct(author), post.id)
      }
    }
  })

  return NotificationEmails.of({
    sweep: Effect.gen(function*() {
      for (let batches = 0; batches < batchesMax; batches++) {
        if ((yield* batch) < batchMax) return
      }
    }).pipe(Effect.orDie, Effect.withSpan("NotificationEmails.sweep")),
    emailTo: traced("NotificationEmails.emailTo")(function*(subject, details) {
      const account = AccountId.make(subject)
      const [receiver] = yield* receiverRows(sql`
        SELECT u.email, u.locale, c.types, c.seen_at, coalesce((SELECT last_read_id FROM markers m
          WHERE m.account_id = u.account_id AND m.timeline = 'notifications'), 0) AS last_read_id
        FROM users u JOIN accounts a ON a.id = u.account_id JOIN email_choices c ON c.account_id = u.account_id
        WHERE u.account_id = ${account} AND c.due_at IS NOT NULL AND ${sql.literal(userStateSql)} = 'active'`)
      if (receiver === undefined) return []
      const { after, newest } = yield* Effect.orDie(decodeDetails(details))
      const positions = [after, receiver.lastReadId, idAt(receiver.seenAt.getTime())]
      const found = yield* notifications.page(
        account,
        { types: receiver.types.filter(isEmailed), excludeTypes: [], accountId: undefined, includeFiltered: false },
        {
          // Later notifications are for the next e-mail.
          ...(newest === undefined ? {} : { maxId: newest + 1n }),
          sinceId: positions.reduce((one, other) => one > other ? one : other),
          limit: shownMax + 1
        }
      )
      const records = found.slice(0, shownMax).toReversed()
      const shown = yield* shownOf(records)
      const words = yield* catalogs.of({ locale: receiver.locale ?? undefined })
      const listed = records.flatMap((record) => {
        const one = shown(record)
        return one === undefined ? [] : [{ ...one, title: notificationTitle(words, record.type, one.name) }]
      })
      if (listed.length === 0) return []
      return [
        newNotifications({
          to: receiver.email,
          server: config.localDomain,
          publicUrl: config.publicUrl,
          notifications: listed,
          more: found.length > shownMax,
          unsubscribe: links.make("notifications", account)
        })(words)
      ]
    })
  })
})
