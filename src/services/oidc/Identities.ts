import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows, rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import type { Identity } from "../identity/Registrations.ts"
import { TwoFactorEmails } from "../identity/TwoFactorEmails.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { NotAllowed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"

/** An identity as its user sees it. */
interface LinkedIdentity extends Identity {
  readonly createdAt: Date
  readonly usedAt: Date
}

const linkedRows = rowsOf(
  Schema.Struct({ issuer: Schema.String, subject: Schema.String, createdAt: Timestamptz, usedAt: Timestamptz })
)
const passwordRows = rowsOf(Schema.Struct({ hasPassword: Schema.Boolean }))

/** Identities of users at OpenID providers. A user has at most one of each issuer. */
export class Identities extends Context.Service<Identities, {
  /** Returns the account of an identity, which is now used. */
  readonly use: (identity: Identity) => Effect.Effect<AccountId | undefined>
  /**
   * Links an identity to an account that has none of its issuer, and tells the user. Returns the account that the identity
   * is linked to; undefined if the given account has another identity of the issuer.
   */
  readonly link: (accountId: AccountId, identity: Identity) => Effect.Effect<AccountId | undefined>
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<LinkedIdentity>>
  /**
   * Takes the identity of an issuer from a user, and tells the user. A user without a password keeps the one of the
   * configured provider, as no other one signs in.
   */
  readonly unlink: (accountId: AccountId, issuer: string) => Effect.Effect<void, NotAllowed>
}>()("murmuration/services/oidc/Identities") {
  static readonly layer = Layer.effect(Identities, Effect.suspend(() => make)).pipe(
    Layer.provide(TwoFactorEmails.layer)
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { provider } = yield* ServerConfig
  const emails = yield* TwoFactorEmails

  const use: Identities["Service"]["use"] = traced("Identities.use")(function*({ issuer, subject }) {
    const at = new Date(yield* Clock.currentTimeMillis)
    const [found] = yield* accountIdRows(sql`UPDATE identities SET used_at = ${at}
      WHERE issuer = ${issuer} AND subject = ${subject} RETURNING account_id`)
    return found?.accountId
  }, Effect.orDie)

  const link: Identities["Service"]["link"] = traced("Identities.link")(function*(accountId, { issuer, subject }) {
    const at = new Date(yield* Clock.currentTimeMillis)
    const [linked] = yield* accountIdRows(
      sql`INSERT INTO identities ${
        sql.insert({ issuer, subject, accountId, createdAt: at, usedAt: at })
      } ON CONFLICT DO NOTHING RETURNING account_id`
    )
    if (linked === undefined) return yield* use({ issuer, subject })
    yield* emails.send(accountId, "identityAdded", issuer)
    return linked.accountId
  }, Effect.orDie)

  const list: Identities["Service"]["list"] = traced("Identities.list")((accountId) =>
    Effect.orDie(linkedRows(sql`SELECT issuer, subject, created_at, used_at FROM identities
      WHERE account_id = ${accountId} ORDER BY created_at, issuer`))
  )

  const unlink: Identities["Service"]["unlink"] = traced("Identities.unlink")(function*(accountId, issuer) {
    const removed = yield* Effect.gen(function*() {
      const [user] = yield* passwordRows(sql`SELECT password_hash IS NOT NULL AS has_password FROM users
        WHERE account_id = ${accountId} FOR NO KEY UPDATE`)
      const left = (yield* list(accountId)).filter((one) => one.issuer !== issuer)
      if (user?.hasPassword !== true && !left.some((one) => one.issuer === provider?.issuer)) {
        return yield* new NotAllowed({ text: "Set a password first, or you could not sign in any more." })
      }
      return yield* sql`DELETE FROM identities WHERE account_id = ${accountId} AND issuer = ${issuer} RETURNING 1`
    }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
    if (removed.length > 0) yield* emails.send(accountId, "identityRemoved", issuer)
  })

  return Identities.of({ use, link, list, unlink })
})
