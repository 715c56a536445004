import { Effect, Layer, type Redacted, Semaphore } from "effect"
import { Digest, Kdf, Mac, SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { Credentials, passwordsWaitingMax } from "../services/identity/Credentials.ts"
import { bcryptText, isBcryptHash, isBeyondPasswords, passwordBytes } from "../services/identity/PasswordBytes.ts"
import { Unavailable } from "../services/runtime/Errors.ts"
import { traced } from "../services/runtime/Traced.ts"
import * as BcryptThread from "./BcryptThread.ts"

/** Cost of a hash: KiB of memory, passes over it, lanes. */
export interface Parameters {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** OWASP's first recommendation for argon2id. */
export const recommended: Parameters = { memory: 19_456, passes: 2, parallelism: 1 }
const saltBytes = 16
const hashBytes = 32
/** Maximum concurrent hashes on a node; each takes a thread and its memory. */
const hashesAtOnceMax = 2

/** Encodes base64 without padding, as in the PHC string format. */
const encode = (bytes: Uint8Array) => Base64.encode(bytes).replaceAll("=", "")
const decode = (text: string) => new Uint8Array(Buffer.from(text, "base64"))

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{8,88})\$([\w+/]{8,88})$/

/**
 * Hashes passwords by argon2id in Node's thread pool. New hashes use `current`; each stored hash is verified with its
 * own parameters, and bcrypt hashes of accounts that come from another server by `bcrypt`.
 */
export const layerWith = (current: Parameters, bcrypt = BcryptThread.make) =>
  Layer.effect(
    Credentials,
    Effect.gen(function*() {
      const kdf = yield* Kdf.Kdf
      const random = yield* SecureRandom.SecureRandom
      const turns = yield* Semaphore.make(hashesAtOnceMax)
      const compareBcrypt = yield* bcrypt
      let waiting = 0
      /** Last bcrypt hash that was verified here, for the time that it takes. */
      let foreign: string | undefined

      const inTurn = <A>(work: () => Effect.Effect<A>) =>
        Effect.suspend(() => {
          if (waiting >= passwordsWaitingMax) return new Unavailable()
          waiting++
          // Threads do not stop for a client that leaves: its place stays taken until they are done, so that the work in
          // threads is bounded.
          return Effect.uninterruptible(work()).pipe(
            turns.withPermits(1),
            Effect.ensuring(Effect.sync(() => waiting--))
          )
        })

      const derive = (parameters: Parameters, password: Redacted.Redacted, salt: Uint8Array, length: number) =>
        inTurn(() => {
          const bytes = passwordBytes(password)
          return Effect.orDie(kdf.derive(Kdf.argon2id(parameters), bytes, { salt, length }))
        })

      const verifyBcrypt = (password: Redacted.Redacted, stored: string) =>
        inTurn(() => compareBcrypt(bcryptText(password), stored))

      const hash = traced("Credentials.hash")(function*(password: Redacted.Redacted) {
        const salt = yield* random.randomBytes(saltBytes)
        const derived = yield* derive(current, password, salt, hashBytes)
        const { memory, parallelism, passes } = current
        return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(derived)}`
      })

      const nobody = new Uint8Array(saltBytes)
      const verifyOwn = Effect.fnUntraced(function*(password: Redacted.Redacted, stored: string | undefined) {
        const match = stored === undefined ? null : phc.exec(stored)
        if (match === null) return yield* Effect.as(derive(current, password, nobody, hashBytes), false)
        const [, memory, passes, parallelism, salt = "", expected = ""] = match
        const expectedHash = decode(expected)
        const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
        return Mac.timingSafeEqual(yield* derive(parameters, password, decode(salt), expectedHash.length), expectedHash)
      })

      const verify = traced("Credentials.verify")(
        function*(password: Redacted.Redacted, stored: string | undefined) {
          if (!isBcryptHash(stored)) {
            if (yield* verifyOwn(password, stored)) return !isBeyondPasswords(password)
            if (foreign !== undefined) yield* verifyBcrypt(password, foreign)
            return false
          }
          foreign = stored
          if (yield* verifyBcrypt(password, stored)) return !isBeyondPasswords(password)
          // On a server with both kinds of hashes each refusal takes the time of both: it does not tell which accounts
          // exist and have not signed in since they came here.
          return yield* verifyOwn(password, undefined)
        }
      )
      return Credentials.of({ hash, verify, isForeign: isBcryptHash })
    })
  )

/** Credentials with the recommended parameters. */
export const layer = layerWith(recommended)

/**
 * Credentials for simulations, which must not wait for a thread pool: one round of SHA-256 without a salt. Offers no
 * protection.
 */
export const layerSimulation = Layer.effect(
  Credentials,
  Effect.gen(function*() {
    const digest = yield* Digest.Digest
    const hash = (password: Redacted.Redacted) => digest.digestHex(Digest.sha256, passwordBytes(password))
    return Credentials.of({
      hash,
      verify: (password, stored) => Effect.map(hash(password), (found) => found === stored),
      isForeign: () => false
    })
  })
)
