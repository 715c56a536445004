import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { Emails } from "../emails/Emails.ts"
import * as TwoFactorTexts from "../emails/TwoFactorTexts.ts"
import { providerName } from "../instance/ProviderNames.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"

type Event = "on" | "off" | "recovered" | "passkeyAdded" | "passkeyRemoved" | "identityAdded" | "identityRemoved"

const userRows = rowsOf(
  Schema.Struct({
    email: Schema.String,
    username: Schema.String,
    locale: Schema.NullOr(Schema.String),
    left: Schema.Int
  })
)

/** E-mails to users about their second factor, passkeys and identities. */
export class TwoFactorEmails extends Context.Service<TwoFactorEmails, {
  /** Sends an e-mail in the background; one about an identity names its provider, by `issuer`. */
  readonly send: (accountId: AccountId, event: Event, issuer?: string) => Effect.Effect<void>
}>()("murmuration/services/identity/TwoFactorEmails") {
  static readonly layer = Layer.effect(
    TwoFactorEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const emails = yield* Emails
      const catalogs = yield* UserCatalogs
      const { localDomain: server, provider: configured } = yield* ServerConfig

      const letter = Effect.fnUntraced(function*(accountId: AccountId, event: Event, issuer = "") {
        const provider = providerName(configured, issuer)
        const [user] = yield* userRows(sql`SELECT u.email, a.username, u.locale,
            (SELECT count(*)::int FROM recovery_codes c WHERE c.account_id = u.account_id) AS left
          FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.account_id = ${accountId}`)
        if (user === undefined) return undefined
        const { email: to, left, locale, username } = user
        const words = yield* catalogs.of({ locale: locale ?? undefined })
        switch (event) {
          case "on":
            return TwoFactorTexts.switchedOn({ to, server, username })(words)
          case "off":
            return TwoFactorTexts.switchedOff({ to, server, username })(words)
          case "passkeyAdded":
            return TwoFactorTexts.passkeyAdded({ to, server, username })(words)
          case "passkeyRemoved":
            return TwoFactorTexts.passkeyRemoved({ to, server, username })(words)
          case "identityAdded":
            return TwoFactorTexts.identityAdded({ to, server, username, provider })(words)
          case "identityRemoved":
            return TwoFactorTexts.identityRemoved({ to, server, username, provider })(words)
          case "recovered":
            return TwoFactorTexts.recovered({ to, server, username, left })(words)
        }
      }, Effect.orDie)

      return TwoFactorEmails.of({
        send: traced("TwoFactorEmails.send")((accountId, event, issuer) =>
          emails.enqueue(letter(accountId, event, issuer))
        )
      })
    })
  ).pipe(Layer.provide(UserCatalogs.layer))
}
