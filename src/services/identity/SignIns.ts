import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import type { Unavailable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { Credentials } from "./Credentials.ts"
import type { EmailAddress } from "./EmailAddresses.ts"
import { type PasskeyRefused, Passkeys } from "./Passkeys.ts"
import { CodeRefused, PendingSignIns } from "./PendingSignIns.ts"
import { type User, Users } from "./Users.ts"

/** Refused sign-in. The state of a user is only revealed after a correct password. */
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {
  state: Schema.Literals(["wrong", "unconfirmed", "pending", "disabled", "provider"])
}) {
  override get message() {
    switch (this.state) {
      case "wrong":
        return "Wrong email address or password."
      case "unconfirmed":
        return "Confirm your email address first: open the link in the email we sent you."
      case "pending":
        return "Your sign-up is pending approval by a moderator."
      case "disabled":
        return "This account is disabled."
      case "provider":
        return "This server does not accept passwords. Sign in with its identity provider."
    }
  }
}

/** A completed sign-in; `lacksFactor` if the role has no permissions without a second factor and the user has none. */
interface SignedIn {
  readonly _tag: "SignedIn"
  readonly accountId: AccountId
  readonly lacksFactor: boolean
}
/** The password is correct; a code must follow from the browser that holds this secret. */
interface CodeRequired {
  readonly _tag: "CodeRequired"
  readonly pending: Redacted.Redacted
}

/** A completed sign-in of a user whom moderators disabled: only the strikes can be read. */
interface DisabledSignIn {
  readonly _tag: "DisabledSignIn"
  readonly accountId: AccountId
}

/** Sign-in by e-mail address and password, and a code if the user has a second factor. */
export class SignIns extends Context.Service<SignIns, {
  /** Takes the same time whether or not the user exists; an undefined address matches no user. */
  readonly signIn: (
    email: EmailAddress | undefined,
    password: Redacted.Redacted
  ) => Effect.Effect<SignedIn | DisabledSignIn | CodeRequired, SignInRefused | Unavailable>
  /**
   * Signs in a user whom the identity provider has identified. A user with a second factor must still enter a code,
   * unless the provider has checked several factors (`factors`).
   */
  readonly signInByProvider: (
    accountId: AccountId,
    factors: boolean
  ) => Effect.Effect<SignedIn | DisabledSignIn | CodeRequired, SignInRefused>
  /** Returns the account of a sign-in that awaits its code. */
  readonly waiting: (pending: Redacted.Redacted) => Effect.Effect<AccountId | undefined>
  /**
   * Signs in by a passkey's response: alone, or to complete a sign-in that awaits its code. Alone it needs no code, as
   * it verifies device and user.
   */
  readonly signInByPasskey: (
    credential: string,
    pending: Redacted.Redacted | undefined
  ) => Effect.Effect<SignedIn | DisabledSignIn, PasskeyRefused | CodeRefused | SignInRefused>
  /** Completes a sign-in that awaits its code. */
  readonly enterCode: (
    pending: Redacted.Redacted,
    code: string
  ) => Effect.Effect<SignedIn | DisabledSignIn, CodeRefused | SignInRefused>
}>()("murmuration/services/identity/SignIns") {
  static readonly layerNoDeps = Layer.effect(
    SignIns,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { provider } = yield* ServerConfig
      const users = yield* Users
      const credentials = yield* Credentials
      const passkeys = yield* Passkeys
      const pendings = yield* PendingSignIns

      /** Returns true if the account has strikes to read. Memorial accounts never sign in. */
      const hasStrikes = (accountId: AccountId) =>
        Effect.map(
          Effect.orDie(sql`SELECT FROM accounts a WHERE a.id = ${accountId} AND NOT a.memorial
            AND EXISTS (SELECT FROM account_warnings w WHERE w.target_account_id = a.id)`),
          (rows) => rows.length > 0
        )
      const requireOpen = Effect.fnUntraced(function*(user: User) {
        if (user.disabled && !(yield* hasStrikes(user.accountId))) {
          return yield* new SignInRefused({ state: "disabled" })
        }
        if (!user.confirmed) return yield* new SignInRefused({ state: "unconfirmed" })
        if (!user.approved) return yield* new SignInRefused({ state: "pending" })
      })
      const known = Effect.fnUntraced(function*({ accountId, disabled, secondFactor }: User) {
        if (disabled) return { _tag: "DisabledSignIn", accountId } as const
        yield* users.signedIn(accountId)
        return { _tag: "SignedIn", accountId, lacksFactor: secondFactor === "missing" } as const
      })

      /** Signs a user in, or begins the second step if the user has a second factor that is not `replaced`. */
      const admitted = Effect.fnUntraced(function*(user: User, replaced: boolean) {
        yield* requireOpen(user)
        return user.secondFactor === "on" && !replaced
          ? { _tag: "CodeRequired", pending: yield* pendings.begin(user.accountId) } as const
          : yield* known(user)
      })

      const signIn = traced("SignIns.signIn")(function*(email: EmailAddress | undefined, password: Redacted.Redacted) {
        if (provider?.only === true) return yield* new SignInRefused({ state: "provider" })
        const user = email === undefined ? undefined : Option.getOrUndefined(yield* users.findByEmail(email))
        const right = yield* credentials.verify(password, user?.passwordHash)
        if (user === undefined || !right) return yield* new SignInRefused({ state: "wrong" })
        const result = yield* admitted(user, false)
        // The password is right: a crowd of sign-ins only delays the new hash to the next one.
        const { passwordHash } = user
        if (passwordHash !== undefined && credentials.isForeign(passwordHash)) {
          yield* Effect.ignore(users.rehash(user, password))
        }
        return result
      })
      const signInByProvider: SignIns["Service"]["signInByProvider"] = traced("SignIns.signInByProvider")(
        function*(accountId, factors) {
          const user = Option.getOrUndefined(yield* users.find(accountId))
          return user === undefined ? yield* new SignInRefused({ state: "wrong" }) : yield* admitted(user, factors)
        }
      )
      const enterCode = traced("SignIns.enterCode")(function*(pending: Redacted.Redacted, code: string) {
        const user = Option.getOrUndefined(yield* users.find(yield* pendings.finish(pending, code)))
        if (user === undefined) return yield* new CodeRefused({ over: true })
        yield* requireOpen(user)
        return yield* known(user)
      })
      const signInByPasskey: SignIns["Service"]["signInByPasskey"] = traced("SignIns.signInByPasskey")(
        function*(credential, pending) {
          const awaiting = pending === undefined ? undefined : yield* pendings.find(pending)
          if (pending !== undefined && awaiting === undefined) return yield* new CodeRefused({ over: true })
          const user = Option.getOrUndefined(yield* users.find(yield* passkeys.accept(credential, awaiting)))
          const ended = pending === undefined || (yield* pendings.end(pending))
          if (user === undefined || !ended) return yield* new CodeRefused({ over: true })
          yield* requireOpen(user)
          return yield* known(user)
        }
      )
      return SignIns.of({ signIn, signInByPasskey, signInByProvider, waiting: pendings.find, enterCode })
    })
  )
  static readonly layer = SignIns.layerNoDeps.pipe(Layer.provide([Passkeys.layer, PendingSignIns.layer, Users.layer]))
}
