import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { Notifications } from "../feeds/Notifications.ts"
import { escape } from "../html/Compose.ts"
import { Accounts } from "../identity/Accounts.ts"
import { picturesOf } from "../identity/PictureAddresses.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import type { Push } from "../intents/Pushes.ts"
import { userState } from "../oauth/Tokens.ts"
import { traced } from "../runtime/Traced.ts"
import { Statuses } from "../statuses/Statuses.ts"
import type { Receiver } from "./PushMessages.ts"
import { pushText } from "./PushTexts.ts"
import { SealedTokens } from "./SealedTokens.ts"

const receiverRows = rowsOf(Schema.Struct({
  endpoint: Schema.String,
  p256dh: Schema.String,
  auth: Schema.String,
  standard: Schema.Boolean,
  sealedToken: Schema.Uint8Array,
  locale: Schema.NullOr(Schema.String)
}))

/** Text and recipient of a push. */
interface PushContent {
  readonly receiver: Receiver
  readonly text: string
}

/**
 * Contents of pushes, loaded when they are sent. A notification that was retracted or became invisible is not sent (row
 * 58).
 */
export class PushContents extends Context.Service<PushContents, {
  readonly of: (push: Push) => Effect.Effect<PushContent | undefined>
}>()("murmuration/services/push/PushContents") {
  static readonly layerNoDeps = Layer.effect(
    PushContents,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const catalogs = yield* UserCatalogs
      const config = yield* ServerConfig
      const notifications = yield* Notifications
      const sealed = yield* SealedTokens
      const statuses = yield* Statuses

      const of = traced("PushContents.of")(function*({ accountId, notificationId, subscriptionId }: Push) {
        const [found] = yield* Effect.orDie(receiverRows(sql`
          SELECT s.endpoint, s.p256dh, s.auth, s.standard, s.sealed_token, u.locale FROM push_subscriptions s
          JOIN oauth_tokens t ON t.id = s.token_id AND t.revoked_at IS NULL
          JOIN users u ON u.account_id = s.account_id JOIN accounts a ON a.id = s.account_id
          WHERE s.id = ${subscriptionId} AND ${sql.literal(userState)} IN ('active', 'moved')`))
        const token = found && sealed.decrypt(found.sealedToken)
        if (found === undefined || token === undefined) return undefined
        const [record] = yield* notifications.load(accountId, [notificationId])
        const [from] = record === undefined ? [] : yield* accounts.load([record.fromAccountId])
        if (record === undefined || from === undefined) return undefined
        const shown = record.statusId === undefined ? [] : yield* statuses.load([record.statusId])
        const status = shown.find(({ id }) => id === record.statusId)
        const { locale, sealedToken: _sealed, ...receiver } = found
        const words = yield* catalogs.of({ locale: locale ?? undefined })
        return {
          receiver,
          text: pushText(words, {
            token: Redacted.value(token),
            locale: locale ?? words.tag,
            notificationId,
            type: record.type,
            name: from.displayName.trim() || from.username,
            icon: picturesOf(config, from).avatarStatic,
            // A content warning replaces the content.
            html: status === undefined ? from.noteHtml : escape(status.spoilerText) || status.html
          })
        }
      })
      return PushContents.of({ of })
    })
  )
}
