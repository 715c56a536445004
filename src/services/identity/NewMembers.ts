import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import type { Email } from "../emails/Mailer.ts"
import { PromisedEmails } from "../emails/PromisedEmails.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"

/** Maximum new members per sweep. */
const greetedMax = 100

const NewMember = Schema.Struct({
  accountId: AccountId,
  /** Inviter whom the member follows. */
  follows: Schema.NullOr(AccountId),
  welcome: Schema.Boolean
})
type NewMember = typeof NewMember.Type
const memberRows = rowsOf(NewMember)
const addressRows = rowsOf(
  Schema.Struct({ username: Schema.String, email: Schema.String, locale: Schema.NullOr(Schema.String) })
)

/** New members whose sign-up is confirmed and approved. */
export class NewMembers extends Context.Service<NewMembers, {
  readonly due: Effect.Effect<ReadonlyArray<NewMember>>
  /** Ends the welcome and promises its e-mail, once. The member must follow the inviter already. */
  readonly welcome: (member: NewMember) => Effect.Effect<void>
  /** Returns the welcome e-mail. */
  readonly emailTo: (accountId: bigint) => Effect.Effect<ReadonlyArray<Email>, SqlError>
}>()("murmuration/services/identity/NewMembers") {
  static readonly layerNoDeps = Layer.effect(
    NewMembers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const emails = yield* PromisedEmails
      const catalogs = yield* UserCatalogs
      const { localDomain: server, publicUrl } = yield* ServerConfig
      return NewMembers.of({
        due: memberRows(sql`SELECT n.account_id, n.follows, n.welcome
            FROM new_members n JOIN users u ON u.account_id = n.account_id
            WHERE u.approved AND u.confirmed_at IS NOT NULL ORDER BY n.account_id LIMIT ${greetedMax}`).pipe(
          Effect.orDie,
          Effect.withSpan("NewMembers.due")
        ),
        welcome: traced("NewMembers.welcome")(
          function*({ accountId, welcome }) {
            const taken = yield* idRows(
              sql`DELETE FROM new_members WHERE account_id = ${accountId} RETURNING account_id AS id`
            )
            if (taken.length > 0 && welcome) yield* emails.promise("welcome", accountId)
          },
          transaction(sql),
          Effect.orDie
        ),
        emailTo: traced("NewMembers.emailTo")(function*(accountId) {
          const [found] = yield* addressRows(sql`SELECT a.username, u.email, u.locale
            FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.account_id = ${accountId}`)
          if (found === undefined) return []
          const { email: to, locale, username } = found
          const words = yield* catalogs.of({ locale: locale ?? undefined })
          return [EmailTexts.welcome({ to, server, username, publicUrl })(words)]
        })
      })
    })
  )
  static readonly layer = NewMembers.layerNoDeps.pipe(Layer.provide([PromisedEmails.layer, UserCatalogs.layer]))
}
