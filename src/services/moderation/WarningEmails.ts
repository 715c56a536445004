import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../database/Rows.ts"
import type { Email } from "../emails/Mailer.ts"
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
  /** Returns the e-mail about a strike; accounts without a local user with a confirmed address get none. */
  readonly about: (strikeId: bigint) => Effect.Effect<ReadonlyArray<Email>, SqlError>
}>()("murmuration/services/moderation/WarningEmails") {
  static readonly layer = Layer.effect(
    WarningEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain: server } = yield* ServerConfig
      const catalogs = yield* UserCatalogs
      const links = yield* StrikeLinks
      return WarningEmails.of({
        about: traced("WarningEmails.about")(function*(strikeId) {
          const [found] = yield* warnedRows(sql`SELECT a.username, u.email, u.locale, w.action, w.text,
              w.status_ids, w.collection_names
            FROM account_warnings w JOIN accounts a ON a.id = w.target_account_id
              JOIN users u ON u.account_id = a.id WHERE w.id = ${strikeId} AND u.confirmed_at IS NOT NULL`)
          if (found === undefined) return []
          const { email: to, locale, ...warned } = found
          const words = yield* catalogs.of({ locale: locale ?? undefined })
          return [WarningTexts.warning({ to, server, address: links.address(strikeId), ...warned })(words)]
        })
      })
    })
  ).pipe(Layer.provide([StrikeLinks.layer, UserCatalogs.layer]))
}
