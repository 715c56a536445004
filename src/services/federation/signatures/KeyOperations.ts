import { Context, type Effect, Schema } from "effect"

/** The size of our own RSA keys and the smallest and largest of others', in bits. */
export const rsaBits = 2_048
export const rsaBitsMin = 2_048
export const rsaBitsMax = 8_192

/** A text that is not a key of a kind that we know. */
export class NoKey extends Schema.TaggedError<NoKey>()("NoKey", {}) {}

export interface KeyPair {
  /** SPKI as PEM. */
  readonly publicPem: string
  /** PKCS #8 as PEM. */
  readonly privatePem: string
}

/** A public key as others may use it with us. */
interface KeyKind {
  readonly type: "rsa" | "ed25519"
  readonly bits: number
}

/**
 * Operations with RSA and Ed25519 keys, given as PEM; each is parsed once and kept. RSA signs with SHA-256 and PKCS #1
 * v1.5 padding.
 */
export class KeyOperations extends Context.Service<KeyOperations, {
  readonly generate: Effect.Effect<KeyPair>
  readonly kind: (publicPem: string) => Effect.Effect<KeyKind, NoKey>
  readonly sign: (privatePem: string, data: Uint8Array) => Effect.Effect<Uint8Array, NoKey>
  /** False also where the key is of another kind than `algorithm`. */
  readonly verify: (
    publicPem: string,
    algorithm: "rsa-sha256" | "ed25519" | undefined,
    data: Uint8Array,
    signature: Uint8Array
  ) => Effect.Effect<boolean>
}>()("murmuration/services/federation/signatures/KeyOperations") {}
