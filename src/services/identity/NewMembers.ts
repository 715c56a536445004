import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { Emails } from "../emails/Emails.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"

/** Maximum new members per sweep. */
const greetedMax = 100

const NewMember = Schema.Struct({
  accountId: AccountId,
  username: Schema.String,
  email: Schema.String,
  locale: Schema.NullOr(Schema.String),
  /** Inviter whom the member follows. */
  follows: Schema.NullOr(AccountId),
  welcome: Schema.Boolean
})
type NewMember = typeof NewMember.Type
const memberRows = rowsOf(NewMember)

/** New members whose sign-up is confirmed and approved. */
export class NewMembers extends Context.Service<NewMembers, {
  readonly due: Effect.Effect<ReadonlyArray<NewMember>>
  /** Sends the welcome e-mail, once. The member must follow the inviter already. */
  readonly sendWelcome: (member: NewMember) => Effect.Effect<void>
}>()("murmuration/services/identity/NewMembers") {
  static readonly layerNoDeps = Layer.effect(
    NewMembers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const emails = yield* Emails
      const catalogs = yield* UserCatalogs
      const { localDomain: server, publicUrl } = yield* ServerConfig
      return NewMembers.of({
        due: memberRows(sql`SELECT n.account_id, a.username, u.email, u.locale, n.follows, n.welcome
            FROM new_members n JOIN users u ON u.account_id = n.account_id JOIN accounts a ON a.id = n.account_id
            WHERE u.approved AND u.confirmed_at IS NOT NULL ORDER BY n.account_id LIMIT ${greetedMax}`).pipe(
          Effect.orDie,
          Effect.withSpan("NewMembers.due")
        ),
        sendWelcome: traced("NewMembers.sendWelcome")(function*({ accountId, email: to, locale, username, welcome }) {
          const taken = yield* idRows(
            sql`DELETE FROM new_members WHERE account_id = ${accountId} RETURNING account_id AS id`
          )
          if (taken.length === 0 || !welcome) return
          const words = catalogs.of({ locale: locale ?? undefined })
          yield* emails.enqueue(Effect.map(words, EmailTexts.welcome({ to, server, username, publicUrl })))
        }, Effect.orDie)
      })
    })
  )
  static readonly layer = NewMembers.layerNoDeps.pipe(Layer.provide(UserCatalogs.layer))
}
