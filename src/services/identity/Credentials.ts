import { Context, type Effect, type Redacted } from "effect"
import type { Unavailable } from "../Errors.ts"

/** Length of a password: characters at least, UTF-8 bytes at most (what every hash in use takes whole). */
export const passwordCharactersMin = 8
export const passwordBytesMax = 72

/** Passwords waiting to be hashed on one node; beyond it the client is told to come again. */
export const passwordsWaitingMax = 64

/**
 * Proof of who somebody is, by password. Slow on purpose. Both verbs answer `Unavailable` where too many passwords
 * wait. A flood of sign-ins costs neither memory nor everybody else's time.
 */
export class Credentials extends Context.Service<Credentials, {
  /** A string that holds the parameters, a salt and the hash (PHC format). */
  readonly hash: (password: Redacted.Redacted) => Effect.Effect<string, Unavailable>
  /** Whether it is the password of `hash`; without a hash the answer is no, at the same cost. */
  readonly verify: (password: Redacted.Redacted, hash: string | undefined) => Effect.Effect<boolean, Unavailable>
}>()("murmuration/services/identity/Credentials") {}
