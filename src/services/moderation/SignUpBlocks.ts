import { Clock, Context, Effect, Layer, Result } from "effect"
import type { EmailAddress } from "../identity/EmailAddresses.ts"
import { alreadyTaken, emailBlocked, type GivenEmail, type Problem, reserved } from "../identity/RegistrationRules.ts"
import { NotAllowed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { BlockedAddresses } from "./BlockedAddresses.ts"
import { CanonicalEmailBlocks } from "./CanonicalEmailBlocks.ts"
import { EmailDomainBlocks } from "./EmailDomainBlocks.ts"
import { UsernameBlocks } from "./UsernameBlocks.ts"

/** A sign-up to check, with the client's IP address. */
interface BlockedSignUp {
  readonly username: string
  readonly email: GivenEmail
  readonly address: string | undefined
  /** An invite bypasses blocks of the e-mail address. */
  readonly invited: boolean
}

/** Result of the sign-up blocks: problems that refuse the sign-up, and whether a moderator must approve it. */
interface SignUpVerdict {
  readonly problems: ReadonlyArray<Problem>
  readonly needsApproval: boolean
}

/** All blocks on sign-ups in one place (auth.md section 7). */
export class SignUpBlocks extends Context.Service<SignUpBlocks, {
  /** Checks a sign-up. Fails with `NotAllowed` for a blocked network. */
  readonly judge: (signUp: BlockedSignUp) => Effect.Effect<SignUpVerdict, NotAllowed>
  /** Checks the new e-mail address of a user; `address` is the client's IP address. */
  readonly ofEmail: (email: EmailAddress, address: string | undefined) => Effect.Effect<SignUpVerdict>
}>()("murmuration/services/moderation/SignUpBlocks") {
  static readonly layer = Layer.effect(
    SignUpBlocks,
    Effect.gen(function*() {
      const addresses = yield* BlockedAddresses
      const canonical = yield* CanonicalEmailBlocks
      const domains = yield* EmailDomainBlocks
      const usernames = yield* UsernameBlocks

      const emailVerdict = Effect.fnUntraced(function*(email: EmailAddress, address: string | undefined) {
        const domain = yield* domains.blockFor(email, address)
        const known = (yield* canonical.matching(email)).length > 0
        return {
          problems: [...(domain === "blocked" ? [emailBlocked] : []), ...(known ? [alreadyTaken("email")] : [])],
          needsApproval: domain === "approval"
        }
      })

      return SignUpBlocks.of({
        judge: traced("SignUpBlocks.judge")(function*({ address, email, invited, username }) {
          const severity = address === undefined
            ? undefined
            : addresses.find(address, yield* Clock.currentTimeMillis)
          if (severity === "sign_up_block" || severity === "no_access") {
            return yield* new NotAllowed({ text: "Forbidden" })
          }
          const ofEmail = invited || Result.isFailure(email)
            ? { problems: [], needsApproval: false }
            : yield* emailVerdict(email.success, address)
          const name = yield* usernames.matching(username)
          const mayWait = name._tag === "Some" && name.value.allowWithApproval
          return {
            problems: [...(name._tag === "Some" && !mayWait ? [reserved] : []), ...ofEmail.problems],
            needsApproval: severity === "sign_up_requires_approval" || ofEmail.needsApproval || mayWait
          }
        }),
        ofEmail: traced("SignUpBlocks.ofEmail")(emailVerdict)
      })
    })
  ).pipe(Layer.provide([CanonicalEmailBlocks.layer, EmailDomainBlocks.layer, UsernameBlocks.layer]))
}
