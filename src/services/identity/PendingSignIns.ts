import { Clock, Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows } from "../database/Rows.ts"
import { retryDeadlocks } from "../database/Transactions.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { TwoFactor } from "./TwoFactor.ts"

/** Time to enter the code after the password, in milliseconds, and maximum tries. */
export const pendingSignInMillisMax = 10 * 60_000
const triesMax = 5
/** Maximum pending sign-ins of a user; beyond it the oldest end. */
const pendingOfUserMax = 10

/** The code is wrong; if `over`, the password must be entered again. */
export class CodeRefused extends Schema.TaggedError<CodeRefused>()("CodeRefused", {
  over: Schema.Boolean
}) {
  override get message() {
    return this.over
      ? "That took too long, or too many codes were wrong. Please sign in again."
      : "This code is wrong or was already used."
  }
}

/**
 * Sign-ins with a correct password and an outstanding second factor. The browser holds the secret, the database its
 * hash.
 */
export class PendingSignIns extends Context.Service<PendingSignIns, {
  readonly begin: (accountId: AccountId) => Effect.Effect<Redacted.Redacted>
  /** Returns the account of a pending sign-in. */
  readonly find: (secret: Redacted.Redacted) => Effect.Effect<AccountId | undefined>
  /** Completes a sign-in whose second factor was checked elsewhere; false if it was already completed or has ended. */
  readonly end: (secret: Redacted.Redacted) => Effect.Effect<boolean>
  /** Completes a sign-in. Every try counts; the correct code ends it. */
  readonly finish: (secret: Redacted.Redacted, code: string) => Effect.Effect<AccountId, CodeRefused>
}>()("murmuration/services/identity/PendingSignIns") {
  static readonly layerNoDeps = Layer.effect(PendingSignIns, Effect.suspend(() => make))
  static readonly layer = PendingSignIns.layerNoDeps.pipe(Layer.provide(TwoFactor.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets
  const twoFactor = yield* TwoFactor
  const retryOnDeadlock = retryDeadlocks(sql)

  const begin = traced("PendingSignIns.begin")(function*(accountId: AccountId) {
    const secret = yield* secrets.make
    const now = yield* Clock.currentTimeMillis
    const [createdAt, expiresAt] = [new Date(now), new Date(now + pendingSignInMillisMax)]
    yield* sql`INSERT INTO pending_sign_ins ${
      sql.insert({ secretHash: yield* secrets.hash(secret), accountId, createdAt, expiresAt })
    }`
    yield* retryOnDeadlock(sql`DELETE FROM pending_sign_ins WHERE secret_hash IN (
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
        // If two-factor was switched off in the meantime, the pending sign-in is void.
        const left = reason === "code" ? yield* find(secret) : undefined
        return yield* new CodeRefused({ over: left === undefined })
      })
    )
    const [ended] = yield* accountIdRows(sql`DELETE FROM pending_sign_ins
      WHERE secret_hash = ${hash} RETURNING account_id`)
    return ended?.accountId ?? (yield* new CodeRefused({ over: true }))
  }, Effect.catchTag("SqlError", Effect.die))

  const end = traced("PendingSignIns.end")(function*(secret: Redacted.Redacted) {
    const ended = yield* sql`DELETE FROM pending_sign_ins WHERE secret_hash = ${yield* secrets.hash(
      secret
    )} RETURNING 1`
    return ended.length > 0
  }, Effect.orDie)

  return PendingSignIns.of({ begin, find, end, finish })
})
