import { Context, Effect, Layer, Option } from "effect"
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign, verify } from "node:crypto"
import { KeyOperations, type KeyPair, NoKey, rsaBits } from "../services/federation/signatures/KeyOperations.ts"
import { boundedMap } from "../services/runtime/BoundedMap.ts"

/** Maximum parsed keys in the cache, for public and private keys each. */
const keysMax = 10_000

/** Maximum characters of a PEM key: an RSA key of 16,384 bits, OpenSSL's maximum for verifying, has 2,900. */
const pemCharactersMax = 4_096

/** Returns a memoised key parser; `Option.none` for invalid keys. */
const parser = (parse: (pem: string) => KeyObject) => {
  const known = boundedMap<string, Option.Option<KeyObject>>(keysMax)
  return (pem: string): Option.Option<KeyObject> => {
    if (pem.length > pemCharactersMax) return Option.none()
    const before = known.get(pem)
    if (before !== undefined) return before
    const parsed = Option.filter(
      Option.liftThrowable(parse)(pem),
      ({ asymmetricKeyType }) => asymmetricKeyType === "rsa" || asymmetricKeyType === "ed25519"
    )
    known.set(pem, parsed)
    return parsed
  }
}

const hashFor = (key: KeyObject) => key.asymmetricKeyType === "rsa" ? "sha256" : null

const generate = Effect.callback<KeyPair>((resume) => {
  generateKeyPair("rsa", {
    modulusLength: rsaBits,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  }, (error, publicPem, privatePem) => {
    resume(error === null ? Effect.succeed({ publicPem, privatePem }) : Effect.die(error))
  })
})

const signed = (data: Uint8Array, key: KeyObject) =>
  Effect.callback<Uint8Array>((resume) => {
    sign(hashFor(key), data, key, (error, signature) => {
      resume(error === null ? Effect.succeed(signature) : Effect.die(error))
    })
  })

/**
 * Key operations that run in a thread. A simulation runs them synchronously with its own randomness, so that nothing
 * else happens in the meantime.
 */
export const SlowKeyWork = Context.Reference<{
  readonly generate: Effect.Effect<KeyPair>
  readonly sign: (data: Uint8Array, key: KeyObject) => Effect.Effect<Uint8Array>
}>("murmuration/layers/SlowKeyWork", { defaultValue: () => ({ generate, sign: signed }) })

/**
 * Key operations by Node. Signing takes 20 times as long as verifying, so it runs in the thread pool. Verifying is done
 * before a thread would have started.
 */
export const layer = Layer.effect(
  KeyOperations,
  Effect.map(SlowKeyWork, (slow) => {
    const publicKey = parser(createPublicKey)
    const privateKey = parser(createPrivateKey)
    return KeyOperations.of({
      generate: slow.generate,
      kind: (pem) =>
        Option.match(publicKey(pem), {
          onNone: () => new NoKey(),
          onSome: ({ asymmetricKeyDetails, asymmetricKeyType }) =>
            Effect.succeed(
              {
                type: asymmetricKeyType === "rsa" ? "rsa" : "ed25519",
                bits: asymmetricKeyDetails?.modulusLength ?? 256
              } as const
            )
        }),
      sign: (pem, data) =>
        Option.match(privateKey(pem), {
          onNone: () => new NoKey(),
          onSome: (key) => slow.sign(data, key)
        }),
      verify: (pem, algorithm, data, signature) =>
        Effect.sync(() => {
          const key = Option.getOrUndefined(publicKey(pem))
          if (key === undefined) return false
          const fits = algorithm === undefined || (algorithm === "ed25519") === (key.asymmetricKeyType === "ed25519")
          return fits && verify(hashFor(key), data, key, signature)
        })
    })
  })
)
