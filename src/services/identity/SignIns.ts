import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import type { Unavailable } from "../Errors.ts"
import { traced } from "../Traced.ts"
import { Credentials } from "./Credentials.ts"
import * as EmailAddresses from "./EmailAddresses.ts"
import { type User, Users } from "./Users.ts"

/** Nobody is signed in; `state` is told only to who knew the password. */
class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {
  state: Schema.Literals(["wrong", "unconfirmed", "pending", "disabled"])
}) {
  override get message() {
    switch (this.state) {
      case "wrong":
        return "The e-mail address or the password is wrong."
      case "unconfirmed":
        return "Confirm your e-mail address first: open the link in the letter that we sent you."
      case "pending":
        return "Your sign-up is waiting for the approval of a moderator."
      case "disabled":
        return "This account is disabled."
    }
  }
}

/** Sign-ins with e-mail address and password. */
export class SignIns extends Context.Service<SignIns, {
  /** Costs the same whether there is such a user or not. */
  readonly signIn: (
    email: string,
    password: Redacted.Redacted
  ) => Effect.Effect<User, SignInRefused | Unavailable>
}>()("murmuration/services/identity/SignIns") {
  static readonly layerNoDeps = Layer.effect(
    SignIns,
    Effect.gen(function*() {
      const users = yield* Users
      const credentials = yield* Credentials

      const signIn = traced("SignIns.signIn")(function*(given: string, password: Redacted.Redacted) {
        const user = Option.getOrUndefined(yield* users.findByEmail(EmailAddresses.parse(given.trim()) ?? ""))
        const right = yield* credentials.verify(password, user?.passwordHash)
        if (user === undefined || !right) return yield* new SignInRefused({ state: "wrong" })
        if (user.disabled) return yield* new SignInRefused({ state: "disabled" })
        if (!user.confirmed) return yield* new SignInRefused({ state: "unconfirmed" })
        if (!user.approved) return yield* new SignInRefused({ state: "pending" })
        yield* users.signedIn(user.accountId)
        return user
      })
      return SignIns.of({ signIn })
    })
  )
  static readonly layer = SignIns.layerNoDeps.pipe(Layer.provide(Users.layer))
}
