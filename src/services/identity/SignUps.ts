import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { NotAllowed, type Unavailable, type Unprocessable } from "../Errors.ts"
import { NotificationWriter } from "../feeds/NotificationWriter.ts"
import type { AccountId } from "../Ids.ts"
import { InstancePolicies } from "../instance/InstancePolicies.ts"
import { languages } from "../instance/Languages.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { canonical } from "../languages/Negotiation.ts"
import type { App } from "../oauth/Apps.ts"
import { traced } from "../Traced.ts"
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
import { Registrations } from "./Registrations.ts"
import { StaffEmails } from "./StaffEmails.ts"
import { Users } from "./Users.ts"

/** What somebody says who wants an account. */
interface SignUp {
  readonly username: string
  readonly email: GivenEmail
  readonly password: Redacted.Redacted
  readonly agreement: boolean
  readonly locale: string | undefined
  readonly timeZone: string | undefined
  readonly reason: string | undefined
  readonly inviteCode: string | undefined
  /** What the blocks of staff say of it. */
  readonly verdict: { readonly problems: ReadonlyArray<Problem>; readonly needsApproval: boolean }
  /** As `2001-02-03`; it is not kept. */
  readonly dateOfBirth: string | undefined
}

const known = new Set(languages.map(({ code }) => code))

/** The locale as a tag, however a system writes it; one of a language that nobody here knows is none. */
const localeOf = (given: string | undefined): string | undefined => {
  const tag = canonical(given ?? "")
  return tag !== undefined && known.has(new Intl.Locale(tag).language) ? tag : undefined
}

/** Sign-ups by the public, as the server's mode of registration lets them in (auth.md section 7). */
export class SignUps extends Context.Service<SignUps, {
  /** Makes the account and sends the e-mail that confirms its address; `app` is undefined for a sign-up on our own page. */
  readonly signUp: (
    app: App | undefined,
    wish: SignUp
  ) => Effect.Effect<AccountId, Unprocessable | NotAllowed | Unavailable>
}>()("murmuration/services/identity/SignUps") {
  static readonly layerNoDeps = Layer.effect(
    SignUps,
    Effect.gen(function*() {
      const { signupConfirmation } = yield* ServerConfig
      const policies = yield* InstancePolicies
      const registrations = yield* Registrations
      const users = yield* Users
      const writer = yield* NotificationWriter
      const mailLinks = yield* MailLinks
      const staffEmails = yield* StaffEmails

      const signUp: SignUps["Service"]["signUp"] = traced("SignUps.signUp")(function*(
        app,
        { agreement, dateOfBirth, verdict, ...wish }
      ) {
        const { minAge, reasonRequired, registrations: mode } = yield* policies.current
        if (mode === "closed" && wish.inviteCode === undefined) return yield* new NotAllowed({ text: "Forbidden" })
        const now = yield* Clock.currentTimeMillis
        const problems = [
          ...(agreement ? [] : [notAccepted]),
          // Whom somebody of the server invited is known to them.
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
          held: verdict.needsApproval,
          locale: localeOf(wish.locale),
          // With closed registrations an invite is the approval.
          approved: mode !== "approval",
          confirmed: signupConfirmation === "none",
          ...(app !== undefined && { createdByAppId: app.id }),
          ageVerified: minAge !== null,
          greeted: true
        })
        const user = yield* users.find(accountId)
        if (signupConfirmation === "mail" && Option.isSome(user)) yield* mailLinks.sendConfirmation(user.value)
        else if (Option.isSome(user) && !user.value.approved) yield* staffEmails.waits(accountId)
        // Who need not confirm anything can come in at once.
        else if (Option.isSome(user)) yield* Effect.orDie(writer.tellStaff("admin.sign_up", accountId, 0n))
        return accountId
      })
      return SignUps.of({ signUp })
    })
  )
  static readonly layer = SignUps.layerNoDeps.pipe(
    Layer.provide([MailLinks.layer, NotificationWriter.layer, Registrations.layer, StaffEmails.layer, Users.layer])
  )
}
