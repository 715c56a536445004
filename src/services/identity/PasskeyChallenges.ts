import { Clock, Effect, Option, Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import type { SqlClient } from "effect/sql/SqlClient"
import type { AccountId } from "../database/Ids.ts"
import { secretCipher } from "../secrets/Seals.ts"
import { usedOnce } from "../secrets/UsedOnce.ts"

/** Lifetime of a challenge, in milliseconds. */
const challengeMillisMax = 10 * 60_000
/** Use of a challenge: registration by a user, sign-in without a name, or the second step of a user's sign-in. */
type Purpose = "register" | "sign in" | "second step"

const Sealed = Schema.fromJsonString(
  Schema.Struct({ purpose: Schema.String, accountId: Schema.String, until: Schema.Finite })
)
const decodeSealed = Schema.decodeUnknownOption(Sealed)

/**
 * Challenges of passkeys. A challenge is its own sealed state, so that visitors of the sign-in page store nothing; only
 * used ones are stored, until they expire.
 */
export const passkeyChallenges = Effect.fnUntraced(function*(sql: SqlClient) {
  const challenges = yield* secretCipher("challenges of passkeys")

  const challengeFor = Effect.fnUntraced(function*(purpose: Purpose, accountId?: AccountId) {
    const until = (yield* Clock.currentTimeMillis) + challengeMillisMax
    const sealed = { purpose, accountId: String(accountId ?? ""), until }
    return new Uint8Array(yield* challenges.encrypt(Redacted.make(JSON.stringify(sealed))))
  })

  /** Returns true if this server issued the challenge for this purpose and account, and it has not expired. */
  const isFor = (purpose: Purpose, accountId: AccountId | undefined, now: number) => (challenge: string) => {
    const bytes = Result.getOrUndefined(Base64Url.decode(challenge))
    const opened = bytes === undefined ? undefined : challenges.decrypt(bytes)
    const sealed = opened === undefined ? undefined : Option.getOrUndefined(decodeSealed(Redacted.value(opened)))
    return sealed !== undefined && sealed.purpose === purpose && sealed.accountId === String(accountId ?? "") &&
      sealed.until > now
  }

  const useUp = yield* usedOnce(sql, "used_passkey_challenges", "challenge_hash", challengeMillisMax)

  return { challengeFor, isFor, useUp }
})
