import { Context, Effect, Layer, Option } from "effect"
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign, verify } from "node:crypto"
import { boundedMap } from "../services/BoundedMap.ts"
import { KeyOperations, type KeyPair, NoKey, rsaBits } from "../services/federation/signatures/KeyOperations.ts"

/** Parsed keys that are kept, the public and the private ones apart. */
const keysMax = 10_000

/** Characters of a key in PEM that may be one: an RSA key of 16,384 bits, the most that OpenSSL verifies with, has 2,900. */
const pemCharactersMax = 4_096

/** Parses each text once; `Option.none` for what is no key. */
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

/** What a thread does; a simulation does it at once and with chance of its own: nothing else may happen meanwhile. */
export const SlowKeyWork = Context.Reference<{
  readonly generate: Effect.Effect<KeyPair>
  readonly sign: (data: Uint8Array, key: KeyObject) => Effect.Effect<Uint8Array>
}>("murmuration/layers/SlowKeyWork", { defaultValue: () => ({ generate, sign: signed }) })

/**
 * Node's own. Signing takes 20 times as long as verifying, so it goes to the thread pool. Verifying is over before a
 * thread would have begun.
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
