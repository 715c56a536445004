import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql/SqlClient"
import type { AccountId } from "../Ids.ts"
import { OpaqueSecrets } from "../OpaqueSecrets.ts"

/** Codes that somebody gets, and chance in each. */
const recoveryCodesMax = 10
const codeBytes = 10
/** Without letters that are taken for others. */
const letters = "abcdefghijkmnpqrstuvwxyz23456789"

/** However it was written down: the spaces, the dashes and the case say nothing. */
const plain = (code: string) => code.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** Codes that somebody keeps on paper for the day on which there is no app. Each works once; we keep the hashes. */
export const recoveryCodes = Effect.fnUntraced(function*(sql: SqlClient) {
  const random = yield* SecureRandom.SecureRandom
  const secrets = yield* OpaqueSecrets

  const make = Effect.map(random.randomBytes(codeBytes * 8 / 5), (bytes) => {
    const code = Array.from(bytes, (byte) => letters[byte % letters.length]).join("")
    return Redacted.make(code.replaceAll(/.{4}(?=.)/g, "$&-"))
  })
  return {
    /** Ten new ones in place of those before, in the running transaction. */
    renew: Effect.fnUntraced(function*(accountId: AccountId) {
      const codes = yield* Effect.replicateEffect(make, recoveryCodesMax)
      const hashes = yield* Effect.forEach(codes, (code) => secrets.hash(plain(Redacted.value(code))))
      yield* sql`DELETE FROM recovery_codes WHERE account_id = ${accountId}`
      for (const codeHash of hashes) yield* sql`INSERT INTO recovery_codes ${sql.insert({ accountId, codeHash })}`
      return codes
    }),
    /** Whether it was one of them; now it is none any more. */
    take: Effect.fnUntraced(function*(accountId: AccountId, code: string) {
      const hash = yield* secrets.hash(plain(code))
      const taken = yield* sql`DELETE FROM recovery_codes
        WHERE account_id = ${accountId} AND code_hash = ${hash} RETURNING 1`
      return taken.length > 0
    })
  }
})
