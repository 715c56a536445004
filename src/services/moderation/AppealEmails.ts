import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../database/Rows.ts"
import type { Email } from "../emails/Mailer.ts"
import { UnsubscribeLinks } from "../emails/UnsubscribeLinks.ts"
import { withUnsubscribe } from "../emails/UnsubscribeTexts.ts"
import { staffWith } from "../identity/Staff.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"
import * as AppealTexts from "./AppealTexts.ts"
import { AppealState } from "./Strike.ts"

const appealRows = rowsOf(
  Schema.Struct({
    username: Schema.String,
    email: Schema.String,
    locale: Schema.NullOr(Schema.String),
    text: Schema.String,
    state: AppealState
  })
)

/** E-mails about appeals. */
export class AppealEmails extends Context.Service<AppealEmails, {
  /** Returns the e-mails about a new appeal, to staff who decide appeals. */
  readonly filed: (appealId: bigint) => Effect.Effect<ReadonlyArray<Email>, SqlError>
  /** Returns the e-mail to the user about the decision on an appeal. */
  readonly decided: (appealId: bigint) => Effect.Effect<ReadonlyArray<Email>, SqlError>
}>()("murmuration/services/moderation/AppealEmails") {
  static readonly layer = Layer.effect(
    AppealEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain: server } = yield* ServerConfig
      const catalogs = yield* UserCatalogs
      const links = yield* UnsubscribeLinks

      const find = (id: bigint) =>
        Effect.map(
          appealRows(sql`SELECT a.username, u.email, u.locale, p.text, p.state FROM appeals p
            JOIN accounts a ON a.id = p.account_id JOIN users u ON u.account_id = a.id WHERE p.id = ${id}`),
          ([found]) => found
        )

      return AppealEmails.of({
        filed: traced("AppealEmails.filed")(function*(id) {
          const found = yield* find(id)
          if (found === undefined) return []
          const { text, username } = found
          return yield* Effect.forEach(
            yield* staffWith(sql, "manageAppeals", "appeals"),
            ({ accountId, email: to, locale }) =>
              Effect.map(catalogs.of({ locale: locale ?? undefined }), (words) =>
                withUnsubscribe(
                  AppealTexts.filed({ to, server, username, text })(words),
                  words,
                  links.make("appeals", accountId)
                ))
          )
        }),
        decided: traced("AppealEmails.decided")(function*(id) {
          const found = yield* find(id)
          if (found === undefined || found.state === "pending") return []
          const { email: to, locale, state, username } = found
          const words = yield* catalogs.of({ locale: locale ?? undefined })
          return [AppealTexts.decided({ to, server, username, granted: state === "approved" })(words)]
        })
      })
    })
  ).pipe(Layer.provide([UnsubscribeLinks.layer, UserCatalogs.layer]))
}
