import { Clock, Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../Ids.ts"
import { OpaqueSecrets } from "../OpaqueSecrets.ts"
import { accountIdRows } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { untilNoClash } from "../Transactions.ts"
import { TwoFactor } from "./TwoFactor.ts"

/** How long the password is believed before the code comes (milliseconds), and how many codes are tried with it. */
export const pendingSignInMillisMax = 10 * 60_000
const triesMax = 5
/** Sign-ins of one user that wait at once; beyond it the oldest end. */
const pendingOfUserMax = 10

/** Nobody is signed in; after `over` the password is asked for again. */
export class CodeRefused extends Schema.TaggedError<CodeRefused>()("CodeRefused", {
  over: Schema.Boolean
}) {
  override get message() {
    return this.over
      ? "That took too long, or too many codes were wrong. Please sign in again."
      : "This code is wrong or was already used."
  }
}

/** Sign-ins whose password was right and whose second factor is still to come. A browser holds the secret, we its hash. */
export class PendingSignIns extends Context.Service<PendingSignIns, {
  readonly begin: (accountId: AccountId) => Effect.Effect<Redacted.Redacted>
  /** Whose it is. */
  readonly find: (secret: Redacted.Redacted) => Effect.Effect<AccountId | undefined>
  /** Works once: each try counts, whatever comes of it, and the right code ends it. */
  readonly finish: (secret: Redacted.Redacted, code: string) => Effect.Effect<AccountId, CodeRefused>
}>()("murmuration/services/identity/PendingSignIns") {
  static readonly layerNoDeps = Layer.effect(PendingSignIns, Effect.suspend(() => make))
  static readonly layer = PendingSignIns.layerNoDeps.pipe(Layer.provide(TwoFactor.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets
  const twoFactor = yield* TwoFactor
  const again = untilNoClash(sql)

  const begin = traced("PendingSignIns.begin")(function*(accountId: AccountId) {
    const secret = yield* secrets.make
    const now = yield* Clock.currentTimeMillis
    const [createdAt, expiresAt] = [new Date(now), new Date(now + pendingSignInMillisMax)]
    yield* sql`INSERT INTO pending_sign_ins ${
      sql.insert({ secretHash: yield* secrets.hash(secret), accountId, createdAt, expiresAt })
    }`
    yield* again(sql`DELETE FROM pending_sign_ins WHERE secret_hash IN (
      SELECT secret_hash FROM pending_sign_ins WHERE account_id = ${accountId}
      ORDER BY created_at DESC, secret_hash OFFSET ${pendingOfUserMax})`)
    return secret
  }, Effect.orDie)

  const find = traced("PendingSignIns.find")(function*(secret: Redacted.Redacted) {
    const now = new Date(yield* Clock.currentTimeMillis)
    const [found] = yield* accountIdRows(sql`SELECT account_id FROM pending_sign_ins
      WHERE secret_hash = ${yield* secrets.hash(secret)} AND expires_at > ${now} AND tries < ${triesMax}`)
    return found?.accountId
  }, Effect.orDie)

  const finish = traced("PendingSignIns.finish")(function*(secret: Redacted.Redacted, code: string) {
    const hash = yield* secrets.hash(secret)
    const now = new Date(yield* Clock.currentTimeMillis)
    const [found] = yield* accountIdRows(sql`UPDATE pending_sign_ins SET tries = tries + 1
      WHERE secret_hash = ${hash} AND expires_at > ${now} AND tries < ${triesMax} RETURNING account_id`)
    if (found === undefined) return yield* new CodeRefused({ over: true })
    yield* Effect.catchTag(
      twoFactor.use(found.accountId, code),
      "TwoFactorRefused",
      Effect.fnUntraced(function*({ reason }) {
        // Who switched it off meanwhile is not let in by what was asked before.
        const left = reason === "code" ? yield* find(secret) : undefined
        return yield* new CodeRefused({ over: left === undefined })
      })
    )
    const [ended] = yield* accountIdRows(sql`DELETE FROM pending_sign_ins
      WHERE secret_hash = ${hash} RETURNING account_id`)
    return ended?.accountId ?? (yield* new CodeRefused({ over: true }))
  }, Effect.catchTag("SqlError", Effect.die))

  return PendingSignIns.of({ begin, find, finish })
})
