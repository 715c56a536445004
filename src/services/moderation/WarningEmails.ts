import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { Emails } from "../emails/Emails.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"
import { StrikeAction } from "./Strike.ts"
import { StrikeLinks } from "./StrikeLinks.ts"
import * as WarningTexts from "./WarningTexts.ts"

const warnedRows = rowsOf(
  Schema.Struct({
    username: Schema.String,
    email: Schema.String,
    locale: Schema.NullOr(Schema.String),
    action: StrikeAction,
    statusIds: Schema.Array(Schema.BigInt),
    collectionNames: Schema.Array(Schema.String),
    text: Schema.String
  })
)

/** E-mails about strikes to the affected users. */
export class WarningEmails extends Context.Service<WarningEmails, {
  /** Sends the e-mail in the background; accounts without a local user with a confirmed address get none. */
  readonly send: (strikeId: bigint) => Effect.Effect<void>
}>()("murmuration/services/moderation/WarningEmails") {
  static readonly layer = Layer.effect(
    WarningEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const emails = yield* Emails
      const { localDomain: server } = yield* ServerConfig
      const catalogs = yield* UserCatalogs
      const links = yield* StrikeLinks
      return WarningEmails.of({
        send: traced("WarningEmails.send")(function*(strikeId) {
          const [found] = yield* warnedRows(sql`SELECT a.username, u.email, u.locale, w.action, w.text,
              w.status_ids, w.collection_names
            FROM account_warnings w JOIN accounts a ON a.id = w.target_account_id
              JOIN users u ON u.account_id = a.id WHERE w.id = ${strikeId} AND u.confirmed_at IS NOT NULL`)
          if (found === undefined) return
          const { email: to, locale, ...warned } = found
          const words = catalogs.of({ locale: locale ?? undefined })
          yield* emails.enqueue(
            Effect.map(words, WarningTexts.warning({ to, server, address: links.address(strikeId), ...warned }))
          )
        }, Effect.orDie)
      })
    })
  ).pipe(Layer.provide([StrikeLinks.layer, UserCatalogs.layer]))
}
