import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON
} from "@simplewebauthn/server"
import { Clock, Context, Effect, Layer, Option, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { lockAccount } from "../visibility/Pairs.ts"
import { passkeyChallenges } from "./PasskeyChallenges.ts"
import { TwoFactorEmails } from "./TwoFactorEmails.ts"

/** Signature algorithms of passkeys: EdDSA, ES256 and RS256 (COSE). */
const algorithms = [-8, -7, -257]
/** Maximum passkeys of a user. Older versions let in more; so many are read. */
const passkeysMax = 20
const passkeysReadMax = 100
/** Maximum characters of a passkey's name and of a browser's response. */
export const passkeyNameCharactersMax = 50
const credentialCharactersMax = 20_000

/** Refused passkey. */
export class PasskeyRefused extends Schema.TaggedError<PasskeyRefused>()("PasskeyRefused", {
  reason: Schema.Literals(["invalid", "known", "many"])
}) {
  override get message() {
    switch (this.reason) {
      case "invalid":
        return "This passkey was not accepted. Please try again."
      case "known":
        return "This passkey is already registered."
      case "many":
        return "You have too many passkeys. Remove one first."
    }
  }
}

/** A passkey as its user sees it. */
interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly usedAt: Date | undefined
}

/** Passkeys of users (WebAuthn Level 3). A challenge is sealed, valid for ten minutes, and accepted once. */
export class Passkeys extends Context.Service<Passkeys, {
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<Passkey>>
  /** Returns what the browser needs to create a passkey. */
  readonly beginRegistration: (
    accountId: AccountId,
    username: string
  ) => Effect.Effect<PublicKeyCredentialCreationOptionsJSON, PasskeyRefused>
  /** Stores a passkey from the browser's response, as JSON, and tells the user. */
  readonly register: (accountId: AccountId, name: string, credential: string) => Effect.Effect<void, PasskeyRefused>
  /** Removes a passkey by its id, and tells the user. */
  readonly remove: (accountId: AccountId, id: string) => Effect.Effect<void>
  /** Returns what the browser needs to sign in, or to complete the second step of a user. */
  readonly ask: (secondStepOf?: AccountId) => Effect.Effect<PublicKeyCredentialRequestOptionsJSON>
  /**
   * Returns the account of the browser's response. Without `secondStepOf` the authenticator must have verified the
   * user, by a PIN or a fingerprint.
   */
  readonly accept: (credential: string, secondStepOf?: AccountId) => Effect.Effect<AccountId, PasskeyRefused>
}>()("murmuration/services/identity/Passkeys") {
  static readonly layer = Layer.effect(Passkeys, Effect.suspend(() => make)).pipe(Layer.provide(TwoFactorEmails.layer))
}

const Credential = Schema.Struct({
  credentialId: Schema.Uint8Array,
  accountId: AccountId,
  publicKey: Schema.Uint8Array,
  counter: Schema.BigInt,
  transports: Schema.Array(Schema.String),
  name: Schema.String,
  createdAt: Timestamptz,
  usedAt: Schema.NullOr(Timestamptz)
})
const credentialRows = rowsOf(Credential)

const text = Schema.String
const Registration = Schema.fromJsonString(Schema.Struct({
  id: text,
  rawId: text,
  type: Schema.Literal("public-key"),
  response: Schema.Struct({
    clientDataJSON: text,
    attestationObject: text,
    transports: Schema.optionalKey(Schema.Array(text))
  })
}))
const Assertion = Schema.fromJsonString(Schema.Struct({
  id: text,
  rawId: text,
  type: Schema.Literal("public-key"),
  response: Schema.Struct({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: Schema.optionalKey(Schema.NullOr(text))
  })
}))
const decodeRegistration = Schema.decodeUnknownOption(Registration)
const decodeAssertion = Schema.decodeUnknownOption(Assertion)
const knownTransports = ["ble", "hybrid", "internal", "nfc", "usb"] as const
const transportsOf = (given: ReadonlyArray<string>): Array<AuthenticatorTransport> =>
  knownTransports.filter((one) => given.includes(one))

/** Loaded on first use: it takes 25 MB, and most servers rarely need it. */
const webAuthn = () => import("@simplewebauthn/server")
/** Time for the user to choose a passkey, in milliseconds. */
const choiceMillis = 60_000

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const emails = yield* TwoFactorEmails
  const secrets = yield* OpaqueSecrets
  const { localDomain, publicUrl } = yield* ServerConfig
  const { challengeFor, isFor, useUp } = yield* passkeyChallenges(sql)
  // The host of the pages, which may differ from the domain of handles.
  const rpId = new URL(publicUrl).hostname
  const invalid = new PasskeyRefused({ reason: "invalid" })

  const rowsOfAccount = (accountId: AccountId) =>
    Effect.orDie(credentialRows(sql`SELECT * FROM passkeys WHERE account_id = ${accountId}
      ORDER BY created_at, credential_id LIMIT ${passkeysReadMax}`))

  const list: Passkeys["Service"]["list"] = traced("Passkeys.list")((accountId) =>
    Effect.map(rowsOfAccount(accountId), (rows) =>
      rows.map(({ createdAt, credentialId, name, usedAt }) => ({
        id: Base64Url.encode(credentialId),
        name,
        createdAt,
        usedAt: usedAt ?? undefined
      })))
  )

  const beginRegistration: Passkeys["Service"]["beginRegistration"] = traced("Passkeys.beginRegistration")(
    function*(accountId, username) {
      const known = yield* rowsOfAccount(accountId)
      if (known.length >= passkeysMax) return yield* new PasskeyRefused({ reason: "many" })
      const [challenge, userHash] = [
        yield* challengeFor("register", accountId),
        yield* secrets.hash(`passkeys of ${accountId}`)
      ]
      return yield* Effect.promise(async () =>
        (await webAuthn()).generateRegistrationOptions({
          rpName: localDomain,
          rpID: rpId,
          userName: username,
          userDisplayName: username,
          userID: new Uint8Array(userHash),
          challenge,
          attestationType: "none",
          supportedAlgorithmIDs: algorithms,
          excludeCredentials: known.map(({ credentialId, transports }) => ({
            id: Base64Url.encode(credentialId),
            transports: transportsOf(transports)
          })),
          authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" }
        })
      )
    }
  )

  const register: Passkeys["Service"]["register"] = traced("Passkeys.register")(function*(accountId, name, credential) {
    const given = credential.length > credentialCharactersMax
      ? undefined
      : Option.getOrUndefined(decodeRegistration(credential))
    if (given === undefined) return yield* invalid
    const now = yield* Clock.currentTimeMillis
    const { transports = [], ...response } = given.response
    let challenge = ""
    const checked = yield* Effect.tryPromise({
      try: async () =>
        (await webAuthn()).verifyRegistrationResponse({
          response: { ...given, response, clientExtensionResults: {} },
          expectedChallenge: (sealed) => isFor("register", accountId, now)(challenge = sealed),
          expectedOrigin: publicUrl,
          expectedRPID: rpId,
          supportedAlgorithmIDs: algorithms,
          requireUserVerification: false
        }),
      catch: () => invalid
    })
    if (!checked.verified) return yield* invalid
    if (!(yield* useUp(challenge, now))) return yield* invalid
    const { counter, id, publicKey } = checked.registrationInfo.credential
    const credentialId = Result.getOrUndefined(Base64Url.decode(id))
    if (credentialId === undefined) return yield* invalid
    const shown = name.replaceAll("\0", "").trim().slice(0, passkeyNameCharactersMax).toWellFormed() || "Passkey"
    const stored = yield* Effect.gen(function*() {
      yield* lockAccount(sql, accountId)
      if ((yield* rowsOfAccount(accountId)).length >= passkeysMax) return yield* new PasskeyRefused({ reason: "many" })
      return yield* sql`INSERT INTO passkeys
          (credential_id, account_id, public_key, counter, transports, name, created_at)
        VALUES (${credentialId}, ${accountId}, ${publicKey}, ${counter}::bigint, ${transportsOf(transports)}::text[],
          ${shown}, ${new Date(now)})
        ON CONFLICT DO NOTHING RETURNING 1`
    }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
    if (stored.length === 0) return yield* new PasskeyRefused({ reason: "known" })
    yield* emails.send(accountId, "passkeyAdded")
  })

  const remove: Passkeys["Service"]["remove"] = traced("Passkeys.remove")(function*(accountId, id) {
    const credentialId = id.length > credentialCharactersMax ? undefined : Result.getOrUndefined(Base64Url.decode(id))
    if (credentialId === undefined) return
    const removed = yield* sql`DELETE FROM passkeys WHERE account_id = ${accountId} AND credential_id = ${credentialId}
      RETURNING 1`.pipe(Effect.orDie)
    if (removed.length > 0) yield* emails.send(accountId, "passkeyRemoved")
  })

  const ask: Passkeys["Service"]["ask"] = traced("Passkeys.ask")(function*(secondStepOf) {
    const known = secondStepOf === undefined ? [] : yield* rowsOfAccount(secondStepOf)
    const challenge = yield* challengeFor(secondStepOf === undefined ? "sign in" : "second step", secondStepOf)
    // Every sign-in page shows these options, so they do without the library.
    return {
      rpId,
      challenge: Base64Url.encode(challenge),
      timeout: choiceMillis,
      userVerification: secondStepOf === undefined ? "required" : "discouraged",
      allowCredentials: known.map(({ credentialId, transports }) => ({
        type: "public-key",
        id: Base64Url.encode(credentialId),
        transports: transportsOf(transports)
      }))
    }
  })

  const accept: Passkeys["Service"]["accept"] = traced("Passkeys.accept")(function*(credential, secondStepOf) {
    const given = credential.length > credentialCharactersMax
      ? undefined
      : Option.getOrUndefined(decodeAssertion(credential))
    const credentialId = given === undefined ? undefined : Result.getOrUndefined(Base64Url.decode(given.id))
    if (given === undefined || credentialId === undefined) return yield* invalid
    const [known] = yield* Effect.orDie(
      credentialRows(sql`SELECT * FROM passkeys WHERE credential_id = ${credentialId}`)
    )
    if (known === undefined || (secondStepOf !== undefined && known.accountId !== secondStepOf)) return yield* invalid
    const { userHandle, ...response } = given.response
    const owner = Base64Url.encode(yield* secrets.hash(`passkeys of ${known.accountId}`))
    // A passkey that names a user must name the one whom it is stored for.
    if (userHandle && userHandle !== owner) return yield* invalid
    const now = yield* Clock.currentTimeMillis
    let challenge = ""
    const checked = yield* Effect.tryPromise({
      try: async () =>
        (await webAuthn()).verifyAuthenticationResponse({
          response: { ...given, response, clientExtensionResults: {} },
          expectedChallenge: (sealed) =>
            isFor(secondStepOf === undefined ? "sign in" : "second step", secondStepOf, now)(challenge = sealed),
          expectedOrigin: publicUrl,
          expectedRPID: rpId,
          credential: {
            id: given.id,
            publicKey: new Uint8Array(known.publicKey),
            counter: Number(known.counter)
          },
          requireUserVerification: secondStepOf === undefined
        }),
      catch: () => invalid
    })
    if (!checked.verified) return yield* invalid
    if (!(yield* useUp(challenge, now))) return yield* invalid
    const counter = checked.authenticationInfo.newCounter
    // A counter that does not rise is of a copy; authenticators without one always send 0.
    const used = yield* sql`UPDATE passkeys SET counter = ${counter}::bigint, used_at = ${new Date(now)}
      WHERE credential_id = ${credentialId} AND (counter < ${counter}::bigint OR (counter = 0 AND ${counter}::bigint = 0))
      RETURNING 1`.pipe(Effect.orDie)
    return used.length === 0 ? yield* invalid : known.accountId
  })

  return Passkeys.of({ list, beginRegistration, register, remove, ask, accept })
})
