import { Context, type Effect, type Redacted } from "effect"
import type { Unavailable } from "../runtime/Errors.ts"

/** Length of a password: minimum characters, and maximum UTF-8 bytes, all of which each hash in use covers. */
export const passwordCharactersMin = 8
export const passwordBytesMax = 72

/** Maximum passwords that wait for hashing on one node; beyond it clients are asked to retry. */
export const passwordsWaitingMax = 64

/**
 * Hashes and verifies passwords, which is slow on purpose. Both methods fail with `Unavailable` if too many passwords
 * wait, so that a flood of sign-ins costs neither memory nor other users' time.
 */
export class Credentials extends Context.Service<Credentials, {
  /** Returns parameters, salt and hash in PHC format. */
  readonly hash: (password: Redacted.Redacted) => Effect.Effect<string, Unavailable>
  /** Returns true if the password matches `hash`. Without a hash returns false, at the same cost. */
  readonly verify: (password: Redacted.Redacted, hash: string | undefined) => Effect.Effect<boolean, Unavailable>
  /** Returns true for a hash of another server's kind, to be replaced once the password is known. */
  readonly isForeign: (hash: string) => boolean
}>()("murmuration/services/identity/Credentials") {}
