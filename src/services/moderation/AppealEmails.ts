import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { Emails } from "../emails/Emails.ts"
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

/** E-mails about appeals, sent in the background. */
export class AppealEmails extends Context.Service<AppealEmails, {
  /** Tells staff who decide appeals about a new one. */
  readonly filed: (appealId: bigint) => Effect.Effect<void>
  /** Tells the user about the decision on an appeal. */
  readonly decided: (appealId: bigint) => Effect.Effect<void>
}>()("murmuration/services/moderation/AppealEmails") {
  static readonly layer = Layer.effect(
    AppealEmails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const emails = yield* Emails
      const { localDomain: server } = yield* ServerConfig
      const catalogs = yield* UserCatalogs

      const find = (id: bigint) =>
        Effect.map(
          appealRows(sql`SELECT a.username, u.email, u.locale, p.text, p.state FROM appeals p
            JOIN accounts a ON a.id = p.account_id JOIN users u ON u.account_id = a.id WHERE p.id = ${id}`),
          ([found]) => found
        )

      return AppealEmails.of({
        filed: traced("AppealEmails.filed")(function*(id) {
          const found = yield* find(id)
          if (found === undefined) return
          const { text, username } = found
          for (const { email: to, locale } of yield* staffWith(sql, "manageAppeals")) {
            const words = catalogs.of({ locale: locale ?? undefined })
            yield* emails.enqueue(Effect.map(words, AppealTexts.filed({ to, server, username, text })))
          }
        }, Effect.orDie),
        decided: traced("AppealEmails.decided")(function*(id) {
          const found = yield* find(id)
          if (found === undefined || found.state === "pending") return
          const { email: to, locale, state, username } = found
          const words = catalogs.of({ locale: locale ?? undefined })
          const text = AppealTexts.decided({ to, server, username, granted: state === "approved" })
          yield* emails.enqueue(Effect.map(words, text))
        }, Effect.orDie)
      })
    })
  ).pipe(Layer.provide(UserCatalogs.layer))
}
