import { Context, type Effect, Schema } from "effect"

/** Size of local RSA keys, and minimum and maximum size of remote ones, in bits. */
export const rsaBits = 2_048
export const rsaBitsMin = 2_048
export const rsaBitsMax = 8_192

/** The text is not a key of a supported kind. */
export class NoKey extends Schema.TaggedError<NoKey>()("NoKey", {}) {}

export interface KeyPair {
  /** SPKI as PEM. */
  readonly publicPem: string
  /** PKCS #8 as PEM. */
  readonly privatePem: string
}

/** Kind and size of a public key. */
interface KeyKind {
  readonly type: "rsa" | "ed25519"
  readonly bits: number
}

/**
 * Operations with RSA and Ed25519 keys in PEM; parsed keys are cached. RSA signatures use SHA-256 and PKCS #1 v1.5
 * padding.
 */
export class KeyOperations extends Context.Service<KeyOperations, {
  readonly generate: Effect.Effect<KeyPair>
  readonly kind: (publicPem: string) => Effect.Effect<KeyKind, NoKey>
  readonly sign: (privatePem: string, data: Uint8Array) => Effect.Effect<Uint8Array, NoKey>
  /** Returns false also if the key is of another kind than `algorithm`. */
  readonly verify: (
    publicPem: string,
    algorithm: "rsa-sha256" | "ed25519" | undefined,
    data: Uint8Array,
    signature: Uint8Array
  ) => Effect.Effect<boolean>
}>()("murmuration/services/federation/signatures/KeyOperations") {}
