import { Clock, Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import type { Unavailable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { secretCipher } from "../secrets/Seals.ts"
import { Credentials } from "./Credentials.ts"
import { removeFactor } from "./ForgottenFactors.ts"
import { FreshSignIn, signInAgain } from "./FreshSignIn.ts"
import * as OneTimeCodes from "./OneTimeCodes.ts"
import { recoveryCodes } from "./RecoveryCodes.ts"
import { Sessions } from "./Sessions.ts"
import { TwoFactorEmails } from "./TwoFactorEmails.ts"

/** Time between the password and the first code of a setup, in milliseconds. */
const setupMillisMax = 30 * 60_000
/** Maximum characters of the setup state in a form. */
const setupCharactersMax = 1_000

/** Refused setup, change or use of a second factor. */
class TwoFactorRefused extends Schema.TaggedError<TwoFactorRefused>()("TwoFactorRefused", {
  reason: Schema.Literals(["password", "sign-in", "code", "late", "on", "off"])
}) {
  override get message() {
    switch (this.reason) {
      case "password":
        return "Wrong password."
      case "sign-in":
        return signInAgain
      case "code":
        return "This code is wrong or was already used."
      case "late":
        return "That took too long. Please start over."
      case "on":
        return "Two-factor sign-in is already on."
      case "off":
        return "Two-factor sign-in is off."
    }
  }
}

/** Data of a setup; `setup` is the sealed state that the form sends back. Nothing is stored before `confirm`. */
export interface Setup {
  readonly setup: string
  readonly secret: Redacted.Redacted
  /** URI that authenticator apps read from a QR code. */
  readonly address: string
}

/** State of a user's second factor. */
interface TwoFactorState {
  readonly enabledAt: Date | undefined
  readonly recoveryCodesLeft: number
  /** True if the role has no permissions without a second factor. */
  readonly requiredByRole: boolean
}

type Codes = ReadonlyArray<Redacted.Redacted>

/** Second factor of sign-in: codes of an authenticator app (RFC 6238), and recovery codes for users without the app. */
export class TwoFactor extends Context.Service<TwoFactor, {
  readonly of: (accountId: AccountId) => Effect.Effect<TwoFactorState>
  /** Makes a new secret, which is only stored once a code proves that an app has it. */
  readonly begin: (
    accountId: AccountId,
    password: Redacted.Redacted
  ) => Effect.Effect<Setup, TwoFactorRefused | Unavailable>
  /** Returns the setup from the state in a form. */
  readonly setupOf: (accountId: AccountId, setup: string) => Effect.Effect<Setup, TwoFactorRefused>
  /**
   * Enables the second factor, ends all sessions and tells the user; tokens stay valid. Returns the recovery codes,
   * which are shown once.
   */
  readonly confirm: (accountId: AccountId, setup: string, code: string) => Effect.Effect<Codes, TwoFactorRefused>
  /** Replaces the recovery codes. */
  readonly renew: (
    accountId: AccountId,
    password: Redacted.Redacted,
    code: string
  ) => Effect.Effect<Codes, TwoFactorRefused | Unavailable>
  readonly switchOff: (
    accountId: AccountId,
    password: Redacted.Redacted,
    code: string
  ) => Effect.Effect<void, TwoFactorRefused | Unavailable>
  /** Consumes a code of the app or a recovery code. Each works once, across all nodes. */
  readonly use: (accountId: AccountId, code: string) => Effect.Effect<void, TwoFactorRefused>
}>()("murmuration/services/identity/TwoFactor") {
  static readonly layerNoDeps = Layer.effect(TwoFactor, Effect.suspend(() => make))
  static readonly layer = TwoFactor.layerNoDeps.pipe(Layer.provide([Sessions.layer, TwoFactorEmails.layer]))
}

const Row = Schema.Struct({
  username: Schema.String,
  passwordHash: Schema.NullOr(Schema.String),
  otpSecret: Schema.NullOr(Schema.Uint8Array),
  otpEnabledAt: Schema.NullOr(Timestamptz),
  recoveryCodesLeft: Schema.Int,
  requiredByRole: Schema.Boolean
})
const userRows = rowsOf(Row)

/** Sealed setup state in a form. */
const Sealed = Schema.fromJsonString(
  Schema.Struct({ accountId: Schema.String, secret: Schema.String, until: Schema.Finite })
)
const decodeSealed = Schema.decodeUnknownOption(Sealed)

/** Maximum characters of a code before its spaces and dashes are removed. */
const codeCharactersMax = 100
const plain = (code: string) => code.slice(0, codeCharactersMax).replaceAll(/[\s-]/g, "")

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const credentials = yield* Credentials
  const emails = yield* TwoFactorEmails
  const random = yield* SecureRandom.SecureRandom
  const sessions = yield* Sessions
  const { localDomain } = yield* ServerConfig
  const codes = yield* recoveryCodes(sql)
  const setups = yield* secretCipher("set-ups of two-factor sign-in")
  const secrets = yield* secretCipher("secrets of two-factor sign-in")

  const userOf = Effect.fnUntraced(function*(accountId: AccountId, locked = false) {
    const [user] = yield* userRows(sql`SELECT a.username, u.password_hash, u.otp_secret, u.otp_enabled_at,
        (SELECT count(*)::int FROM recovery_codes c WHERE c.account_id = u.account_id) AS recovery_codes_left,
        r.require_2fa AS required_by_role
      FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id
      WHERE u.account_id = ${accountId} ${sql.literal(locked ? "FOR NO KEY UPDATE OF u" : "")}`)
    return user ?? (yield* new TwoFactorRefused({ reason: "off" }))
  }, Effect.catchTag("SqlError", Effect.die))

  const shown = (username: string, secret: Redacted.Redacted, setup: string): Setup => ({
    setup,
    secret,
    address: OneTimeCodes.otpauthUri(secret, localDomain, username)
  })
  const requirePassword = Effect.fnUntraced(function*(password: Redacted.Redacted, hash: string | null) {
    if (hash === null && !(yield* FreshSignIn)) return yield* new TwoFactorRefused({ reason: "sign-in" })
    if (hash !== null && !(yield* credentials.verify(password, hash))) {
      return yield* new TwoFactorRefused({ reason: "password" })
    }
  })

  const begin: TwoFactor["Service"]["begin"] = traced("TwoFactor.begin")(function*(accountId, password) {
    const { otpEnabledAt, passwordHash, username } = yield* userOf(accountId)
    if (otpEnabledAt !== null) return yield* new TwoFactorRefused({ reason: "on" })
    yield* requirePassword(password, passwordHash)
    const secret = OneTimeCodes.secretOf(yield* random.randomBytes(OneTimeCodes.secretBytes))
    const until = (yield* Clock.currentTimeMillis) + setupMillisMax
    const text = JSON.stringify({ accountId: String(accountId), secret: Redacted.value(secret), until })
    return shown(username, secret, Base64Url.encode(yield* setups.encrypt(Redacted.make(text))))
  })

  const setupOf: TwoFactor["Service"]["setupOf"] = traced("TwoFactor.setupOf")(function*(accountId, setup) {
    const expired = new TwoFactorRefused({ reason: "late" })
    const bytes = setup.length > setupCharactersMax ? undefined : Result.getOrUndefined(Base64Url.decode(setup))
    const opened = bytes === undefined ? undefined : setups.decrypt(bytes)
    const sealedSetup = opened === undefined ? undefined : Option.getOrUndefined(decodeSealed(Redacted.value(opened)))
    if (sealedSetup === undefined || sealedSetup.accountId !== String(accountId)) return yield* expired
    if (sealedSetup.until <= (yield* Clock.currentTimeMillis)) return yield* expired
    const { username } = yield* userOf(accountId)
    return shown(username, Redacted.make(sealedSetup.secret), setup)
  })

  const confirm: TwoFactor["Service"]["confirm"] = traced("TwoFactor.confirm")(function*(accountId, setup, code) {
    const { secret } = yield* setupOf(accountId, setup)
    const now = yield* Clock.currentTimeMillis
    const step = OneTimeCodes.stepOf(secret, plain(code), now)
    if (step === undefined) return yield* new TwoFactorRefused({ reason: "code" })
    const sealed = yield* secrets.encrypt(secret)
    const enabled = yield* Effect.gen(function*() {
      const [on] = yield* tracked("user", [accountId])(
        sql`UPDATE users SET otp_secret = ${sealed}, otp_enabled_at = ${new Date(now)},
          otp_last_step = ${step} WHERE account_id = ${accountId} AND otp_enabled_at IS NULL RETURNING 1`
      )
      if (on === undefined) return yield* new TwoFactorRefused({ reason: "on" })
      yield* sessions.endAll(accountId)
      return yield* codes.renew(accountId)
    }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))
    yield* emails.send(accountId, "on")
    return enabled
  })

  /** Consumes a code. Each time step accepts one, and older steps are refused. Returns true for a recovery code. */
  const spend = Effect.fnUntraced(function*(accountId: AccountId, code: string) {
    const { otpSecret } = yield* userOf(accountId)
    if (otpSecret === null) return yield* new TwoFactorRefused({ reason: "off" })
    const secret = secrets.decrypt(otpSecret)
    const given = plain(code)
    const now = yield* Clock.currentTimeMillis
    const step = secret === undefined ? undefined : OneTimeCodes.stepOf(secret, given, now)
    if (step !== undefined) {
      const [taken] = yield* sql`UPDATE users SET otp_last_step = ${step} WHERE account_id = ${accountId}
        AND otp_secret = ${otpSecret} AND otp_last_step < ${step} RETURNING 1`
      if (taken !== undefined) return false
    } else if (yield* codes.take(accountId, given)) return true
    return yield* new TwoFactorRefused({ reason: "code" })
  })

  const use: TwoFactor["Service"]["use"] = traced("TwoFactor.use")(function*(accountId, code) {
    const recovered = yield* spend(accountId, code)
    if (recovered) yield* emails.send(accountId, "recovered")
  }, Effect.catchIf(isSqlError, Effect.die))

  /** Runs `work` in a transaction after checking password and code again. */
  const verified = <A, E>(
    accountId: AccountId,
    password: Redacted.Redacted,
    code: string,
    work: Effect.Effect<A, E>
  ) =>
    Effect.gen(function*() {
      yield* requirePassword(password, (yield* userOf(accountId)).passwordHash)
      return yield* Effect.gen(function*() {
        yield* userOf(accountId, true)
        yield* spend(accountId, code)
        return yield* work
      }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))
    })

  return TwoFactor.of({
    of: traced("TwoFactor.of")(
      (accountId) =>
        Effect.map(
          userOf(accountId),
          ({ otpEnabledAt, recoveryCodesLeft, requiredByRole }) => ({
            enabledAt: otpEnabledAt ?? undefined,
            recoveryCodesLeft,
            requiredByRole
          })
        ),
      Effect.orDie
    ),
    begin,
    setupOf,
    confirm,
    renew: traced("TwoFactor.renew")((accountId, password, code) =>
      verified(accountId, password, code, codes.renew(accountId))
    ),
    switchOff: traced("TwoFactor.switchOff")(function*(accountId, password, code) {
      yield* verified(accountId, password, code, removeFactor({ sql, tracked })(accountId))
      yield* emails.send(accountId, "off")
    }),
    use
  })
})
