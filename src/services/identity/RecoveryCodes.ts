import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql/SqlClient"
import type { AccountId } from "../database/Ids.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"

/** Recovery codes per user, and random bytes in each. */
const recoveryCodesMax = 10
const codeBytes = 10
/** Letters without look-alikes. */
const letters = "abcdefghijkmnpqrstuvwxyz23456789"

/** Normalises a code: ignores spaces, dashes and case. */
const normalised = (code: string) => code.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** Recovery codes for users without their authenticator app. Each works once; only hashes are stored. */
export const recoveryCodes = Effect.fnUntraced(function*(sql: SqlClient) {
  const random = yield* SecureRandom.SecureRandom
  const secrets = yield* OpaqueSecrets

  const make = Effect.map(random.randomBytes(codeBytes * 8 / 5), (bytes) => {
    const code = Array.from(bytes, (byte) => letters[byte % letters.length]).join("")
    return Redacted.make(code.replaceAll(/.{4}(?=.)/g, "$&-"))
  })
  return {
    /** Replaces all codes by ten new ones, in the current transaction. */
    renew: Effect.fnUntraced(function*(accountId: AccountId) {
      const codes = yield* Effect.replicateEffect(make, recoveryCodesMax)
      const hashes = yield* Effect.forEach(codes, (code) => secrets.hash(normalised(Redacted.value(code))))
      yield* sql`DELETE FROM recovery_codes WHERE account_id = ${accountId}`
      for (const codeHash of hashes) yield* sql`INSERT INTO recovery_codes ${sql.insert({ accountId, codeHash })}`
      return codes
    }),
    /** Consumes a code; returns true if it was valid. */
    take: Effect.fnUntraced(function*(accountId: AccountId, code: string) {
      const hash = yield* secrets.hash(normalised(code))
      const taken = yield* sql`DELETE FROM recovery_codes
        WHERE account_id = ${accountId} AND code_hash = ${hash} RETURNING 1`
      return taken.length > 0
    })
  }
})
