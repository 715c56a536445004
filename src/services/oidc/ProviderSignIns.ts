import { Clock, Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { EmailAddress } from "../identity/EmailAddresses.ts"
import { type SignInRefused, SignIns } from "../identity/SignIns.ts"
import { Users } from "../identity/Users.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { secretCipher } from "../secrets/Seals.ts"
import { usedOnce } from "../secrets/UsedOnce.ts"
import { Identities } from "./Identities.ts"
import { IdentityProvider, type ProviderClient, ProviderFailed, ProviderRefused } from "./IdentityProvider.ts"
import type { ProviderIdentity } from "./ProviderIdentity.ts"
import { ProviderRoles } from "./ProviderRoles.ts"

/** Time of a sign-in at the provider, and of the sign-up after it, in milliseconds. */
export const providerMillisMax = 10 * 60_000
/** Maximum characters of a sealed state: browsers store cookies of at most 4,096 bytes with their name. */
const sealedCharactersMax = 4_000
/** Page after the sign-in if the requested path is too long for the cookie. */
const landing = "/home"

/** Sealed state of a browser that is at the provider. */
const Begun = Schema.Struct({
  step: Schema.Literal("provider"),
  state: Schema.String,
  nonce: Schema.String,
  verifier: Schema.String,
  to: Schema.String,
  until: Schema.Finite
})
/** Sealed state of a person who chooses a username. */
const Newcomer = Schema.Struct({
  step: Schema.Literal("sign-up"),
  issuer: Schema.String,
  subject: Schema.String,
  email: Schema.optionalKey(EmailAddress),
  emailVerified: Schema.Boolean,
  username: Schema.String,
  /** Group that gives the highest role. */
  group: Schema.optionalKey(Schema.String),
  to: Schema.String,
  until: Schema.Finite
})
export type Newcomer = typeof Newcomer.Type
const decodeBegun = Schema.decodeUnknownOption(Schema.fromJsonString(Begun))
const decodeNewcomer = Schema.decodeUnknownOption(Schema.fromJsonString(Newcomer))

type SignedIn = Effect.Success<ReturnType<SignIns["Service"]["signInByProvider"]>>

/** A person without an account, who may sign up; `sealed` is the browser's new state. */
interface Unknown {
  readonly _tag: "Unknown"
  readonly sealed: string
}

/** Sign-ins by the configured OpenID provider. The browser holds their sealed state, which works once. */
export class ProviderSignIns extends Context.Service<ProviderSignIns, {
  /** Begins a sign-in that leads to the path `to`. Returns the URL at the provider, and the browser's state. */
  readonly begin: (to: string) => Effect.Effect<{ readonly url: string; readonly sealed: string }, ProviderFailed>
  /** Returns the path to return to; undefined if the state is invalid or expired. */
  readonly returning: (sealed: string) => Effect.Effect<string | undefined>
  /**
   * Ends a sign-in, by the parameters of the callback. An identity without an account is linked to the one with its
   * verified address. Groups change the user's role.
   */
  readonly finish: (
    parameters: URLSearchParams,
    sealed: string
  ) => Effect.Effect<SignedIn | Unknown, ProviderFailed | ProviderRefused | SignInRefused>
  /** Returns true if the person already has an account. */
  readonly isKnown: (newcomer: Newcomer) => Effect.Effect<boolean>
  /** Signs in a person who has signed up, and gives them the role of their groups. */
  readonly enter: (accountId: AccountId, newcomer: Newcomer) => Effect.Effect<SignedIn, SignInRefused>
  /** Returns the person who signs up; undefined if the state is invalid or expired. */
  readonly newcomer: (sealed: string) => Effect.Effect<Newcomer | undefined>
}>()("murmuration/services/oidc/ProviderSignIns") {
  static readonly layer = Layer.effect(ProviderSignIns, Effect.suspend(() => make)).pipe(
    Layer.provide([Identities.layer, ProviderRoles.layer, SignIns.layer, Users.layer])
  )
}

const absent: ProviderClient = {
  authorizationUrl: () => Effect.fail(new ProviderFailed({ why: "no provider is configured" })),
  identify: () => Effect.fail(new ProviderFailed({ why: "no provider is configured" }))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { provider: config } = yield* ServerConfig
  const provider = (yield* IdentityProvider) ?? absent
  const identities = yield* Identities
  const roles = yield* ProviderRoles
  const secrets = yield* OpaqueSecrets
  const signIns = yield* SignIns
  const users = yield* Users
  const cipher = yield* secretCipher("sign-ins by a provider")
  const useUp = yield* usedOnce(sql, "used_provider_states", "state_hash", providerMillisMax)

  const random = Effect.map(secrets.make, Redacted.value)

  const sealedAs = (state: typeof Begun.Type | Newcomer) =>
    Effect.map(cipher.encrypt(Redacted.make(JSON.stringify(state))), Base64Url.encode)
  const seal = Effect.fnUntraced(function*(state: typeof Begun.Type | Newcomer) {
    const sealed = yield* sealedAs(state)
    return sealed.length > sealedCharactersMax ? yield* sealedAs({ ...state, to: landing }) : sealed
  })
  const opened = (sealed: string) => {
    const bytes = sealed.length > sealedCharactersMax ? undefined : Result.getOrUndefined(Base64Url.decode(sealed))
    const text = bytes === undefined ? undefined : cipher.decrypt(bytes)
    return text === undefined ? "" : Redacted.value(text)
  }
  const inTime = <A extends { readonly until: number }>(decoded: Option.Option<A>) =>
    Effect.map(
      Effect.clockWith((clock) => clock.currentTimeMillis),
      (now) => Option.getOrUndefined(Option.filter(decoded, ({ until }) => until > now))
    )
  const begunOf = (sealed: string) => inTime(decodeBegun(opened(sealed)))

  /** Returns the account with the verified address of a new identity, which is linked to it. */
  const linked = Effect.fnUntraced(function*({ email, emailVerified, ...identity }: ProviderIdentity) {
    if (email === undefined || !emailVerified) return undefined
    const user = Option.getOrUndefined(yield* users.findByEmail(email))
    if (user === undefined) return undefined
    // Another person may have signed up with the address, who waits for its owner to confirm it.
    if (!user.confirmed) return yield* new ProviderRefused({ reason: "unconfirmed" })
    return (yield* identities.link(user.accountId, identity)) ?? (yield* new ProviderRefused({ reason: "linked" }))
  })

  const finish: ProviderSignIns["Service"]["finish"] = traced("ProviderSignIns.finish")(
    function*(parameters, sealed) {
      const attempt = yield* begunOf(sealed)
      const expired = new ProviderRefused({ reason: "late" })
      if (attempt === undefined || parameters.get("state") !== attempt.state) return yield* expired
      const now = yield* Clock.currentTimeMillis
      if (!(yield* useUp(attempt.state, now))) return yield* expired
      const identity = yield* provider.identify(parameters, attempt)
      const allowed = config?.allowedGroups
      if (allowed !== undefined && !identity.groups.some((group) => allowed.includes(group))) {
        return yield* new ProviderRefused({ reason: "group" })
      }
      const accountId = (yield* identities.use(identity)) ?? (yield* linked(identity))
      if (accountId === undefined) {
        if (config?.signUp !== true) return yield* new ProviderRefused({ reason: "unknown" })
        const { email, emailVerified, groups, issuer, subject, username } = identity
        const group = yield* roles.groupOf(groups)
        const person = {
          issuer,
          subject,
          emailVerified,
          username,
          ...(email !== undefined && { email }),
          ...(group !== undefined && { group })
        }
        const state = { step: "sign-up", ...person, to: attempt.to, until: now + providerMillisMax } as const
        return { _tag: "Unknown", sealed: yield* seal(state) } as const
      }
      yield* roles.apply(accountId, identity.groups)
      return yield* signIns.signInByProvider(accountId, config?.trustFactors === true && identity.multiFactor)
    }
  )

  return ProviderSignIns.of({
    begin: traced("ProviderSignIns.begin")(function*(to) {
      const [state, nonce, verifier] = yield* Effect.all([random, random, random])
      const attempt = { state, nonce, verifier }
      const url = yield* provider.authorizationUrl(attempt)
      const until = (yield* Clock.currentTimeMillis) + providerMillisMax
      return {
        url,
        sealed: yield* seal({
          step: "provider",
          ...attempt,
          to,
          until
        })
      }
    }),
    returning: traced("ProviderSignIns.returning")((sealed) => Effect.map(begunOf(sealed), (attempt) => attempt?.to)),
    finish,
    isKnown: traced("ProviderSignIns.isKnown")((newcomer) =>
      Effect.map(identities.use(newcomer), (account) => account !== undefined)
    ),
    enter: traced("ProviderSignIns.enter")((accountId, { group }) =>
      Effect.andThen(
        roles.apply(accountId, group === undefined ? [] : [group]),
        signIns.signInByProvider(accountId, false)
      )
    ),
    newcomer: traced("ProviderSignIns.newcomer")((sealed) => inTime(decodeNewcomer(opened(sealed))))
  })
})
