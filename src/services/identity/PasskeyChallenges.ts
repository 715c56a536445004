import { Clock, Effect, Option, Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import type { SqlClient } from "effect/sql/SqlClient"
import type { AccountId } from "../database/Ids.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { secretCipher } from "../secrets/Seals.ts"

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
  const secrets = yield* OpaqueSecrets
  const challenges = yield* secretCipher("challenges of passkeys")

  const challengeFor = Effect.fnUntraced(function*(purpose: Purpose, accountId?: AccountId) {
    const until = (yield* Clock.currentTimeMillis) + challengeMillisMax
    const sealed = { purpose, accountId: String(accountId ?? ""), until }
    return new Uint8Array(yield* challenges.encrypt(Redacted.make(JSON.stringify(sealed))))
  })

  /** Returns true if the challenge is ours, for this purpose and account, and in time. */
  const isFor = (purpose: Purpose, accountId: AccountId | undefined, now: number) => (challenge: string) => {
    const bytes = Result.getOrUndefined(Base64Url.decode(challenge))
    const opened = bytes === undefined ? undefined : challenges.decrypt(bytes)
    const said = opened === undefined ? undefined : Option.getOrUndefined(decodeSealed(Redacted.value(opened)))
    return said !== undefined && said.purpose === purpose && said.accountId === String(accountId ?? "") &&
      said.until > now
  }

  /** Uses up a challenge, across all nodes; false if it was used before. */
  const useUp = Effect.fnUntraced(function*(challenge: string, now: number) {
    yield* sql`DELETE FROM used_passkey_challenges WHERE expires_at < ${new Date(now)}`
    const used = yield* sql`INSERT INTO used_passkey_challenges (challenge_hash, expires_at)
      VALUES (${yield* secrets.hash(challenge)}, ${new Date(now + challengeMillisMax)})
      ON CONFLICT DO NOTHING RETURNING 1`
    return used.length > 0
  }, Effect.orDie)

  return { challengeFor, isFor, useUp }
})
