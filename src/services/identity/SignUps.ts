import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import type { AccountId } from "../database/Ids.ts"
import { NotificationWriter } from "../feeds/NotificationWriter.ts"
import { InstancePolicies } from "../instance/InstancePolicies.ts"
import { languages } from "../instance/Languages.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { canonical } from "../languages/Negotiation.ts"
import type { App } from "../oauth/Apps.ts"
import { NotAllowed, type Unavailable, type Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { MailLinks } from "./MailLinks.ts"
import {
  type GivenEmail,
  noReason,
  notAccepted,
  ofAge,
  type Problem,
  problemsOf,
  refusal
} from "./RegistrationRules.ts"
import { type Identity, Registrations } from "./Registrations.ts"
import { Users } from "./Users.ts"

/** Data of a sign-up. */
interface SignUp {
  readonly username: string
  readonly email: GivenEmail
  /** Undefined for a person of the identity provider. */
  readonly password: Redacted.Redacted | undefined
  /** Identity at the provider, and true if the provider has verified the address. */
  readonly identity?: (Identity & { readonly emailVerified: boolean }) | undefined
  readonly agreement: boolean
  readonly locale: string | undefined
  readonly timeZone: string | undefined
  readonly reason: string | undefined
  readonly inviteCode: string | undefined
  /** Result of the sign-up blocks of staff. */
  readonly verdict: { readonly problems: ReadonlyArray<Problem>; readonly needsApproval: boolean }
  /** Date such as `2001-02-03`; it is not stored. */
  readonly dateOfBirth: string | undefined
}

const known = new Set(languages.map(({ code }) => code))

/** Returns a locale as a BCP 47 tag, from any common notation; undefined if its language is unknown here. */
const localeOf = (given: string | undefined): string | undefined => {
  const tag = canonical(given ?? "")
  return tag !== undefined && known.has(new Intl.Locale(tag).language) ? tag : undefined
}

/** Public sign-ups, depending on the server's registration mode (auth.md section 7). */
export class SignUps extends Context.Service<SignUps, {
  /**
   * Creates the account and sends the confirmation e-mail; `app` is undefined for a sign-up on the server's own page.
   */
  readonly signUp: (
    app: App | undefined,
    wish: SignUp
  ) => Effect.Effect<AccountId, Unprocessable | NotAllowed | Unavailable>
}>()("murmuration/services/identity/SignUps") {
  static readonly layerNoDeps = Layer.effect(
    SignUps,
    Effect.gen(function*() {
      const { provider, signupConfirmation } = yield* ServerConfig
      const policies = yield* InstancePolicies
      const registrations = yield* Registrations
      const users = yield* Users
      const writer = yield* NotificationWriter
      const mailLinks = yield* MailLinks

      const signUp: SignUps["Service"]["signUp"] = traced("SignUps.signUp")(function*(
        app,
        { agreement, dateOfBirth, verdict, ...wish }
      ) {
        const { minAge, reasonRequired, registrations: mode } = yield* policies.current
        const isOpen = wish.identity === undefined
          ? provider?.only !== true && (mode !== "closed" || wish.inviteCode !== undefined)
          : provider?.signUp === true
        if (!isOpen) return yield* new NotAllowed({ text: "Forbidden" })
        const now = yield* Clock.currentTimeMillis
        const problems = [
          ...(agreement ? [] : [notAccepted]),
          // Invited people need no reason: their inviter knows them.
          ...(reasonRequired && mode === "approval" && wish.inviteCode === undefined &&
              (wish.reason ?? "").trim() === ""
            ? [noReason]
            : []),
          ...(minAge === null ? [] : ofAge(dateOfBirth, minAge, now))
        ]
        if (problems.length > 0) return yield* refusal([...problemsOf(wish), ...verdict.problems, ...problems])
        const accountId = yield* registrations.create({
          ...wish,
          problems: verdict.problems,
          needsApproval: verdict.needsApproval,
          locale: localeOf(wish.locale),
          // With closed registrations the invite counts as approval.
          approved: mode !== "approval",
          confirmed: signupConfirmation === "none" || wish.identity?.emailVerified === true,
          ...(app !== undefined && { createdByAppId: app.id }),
          ageVerified: minAge !== null,
          greeted: true
        })
        const user = yield* users.find(accountId)
        if (Option.isSome(user) && !user.value.confirmed) yield* mailLinks.sendConfirmation(user.value)
        // Without confirmation the user can sign in at once.
        else if (Option.isSome(user) && user.value.approved) {
          yield* Effect.orDie(writer.notifyStaff("admin.sign_up", accountId, 0n))
        }
        return accountId
      })
      return SignUps.of({ signUp })
    })
  )
  static readonly layer = SignUps.layerNoDeps.pipe(
    Layer.provide([MailLinks.layer, NotificationWriter.layer, Registrations.layer, Users.layer])
  )
}
