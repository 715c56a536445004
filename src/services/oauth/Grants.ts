import { Clock, Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { Digest, Mac } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { AccountId, type AppId, TokenId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import * as Scopes from "./Scopes.ts"
import { type IssuedToken, Tokens } from "./Tokens.ts"

/** Lifetime of an authorization code, in milliseconds. */
export const codeMillisMax = 600_000

/** Authorization of an app by a user. `codeChallenge` is that of PKCE with method S256. */
interface NewGrant {
  readonly appId: AppId
  readonly accountId: AccountId
  readonly redirectUri: string
  readonly scopes: ReadonlyArray<string>
  readonly codeChallenge: string | undefined
}

/** A client's request to exchange a code. */
interface Exchange {
  readonly appId: AppId
  readonly code: string
  readonly redirectUri: string
  readonly codeVerifier: string | undefined
}

const scopesRows = rowsOf(Schema.Struct({ scopes: Schema.String }))

/** The code is wrong, used, expired or was issued to another client; the client is not told which (RFC 6749, 5.2). */
class InvalidGrant extends Schema.TaggedError<InvalidGrant>()("InvalidGrant", {}) {}

/** Authorization codes: single use, bound to client, redirect URI and PKCE (RFC 6749, 7636, 9700). */
export class Grants extends Context.Service<Grants, {
  readonly create: (grant: NewGrant) => Effect.Effect<Redacted.Redacted>
  /** Exchanges a code for a token. A second use means that the code was stolen or lost, so its token is revoked. */
  readonly exchange: (exchange: Exchange) => Effect.Effect<IssuedToken, InvalidGrant>
  /** Returns true if the user has granted these scopes to the app and not revoked them. */
  readonly allowed: (
    accountId: AccountId,
    appId: AppId,
    scopes: ReadonlyArray<string>
  ) => Effect.Effect<boolean>
}>()("murmuration/services/oauth/Grants") {
  static readonly layerNoDeps = Layer.effect(Grants, Effect.suspend(() => make))
  static readonly layer = Grants.layerNoDeps.pipe(Layer.provide(Tokens.layer))
}

const Row = Schema.Struct({
  appId: Schema.BigInt,
  accountId: Schema.BigInt,
  redirectUri: Schema.String,
  scopes: Schema.String,
  codeChallenge: Schema.NullOr(Schema.String),
  tokenId: Schema.NullOr(Schema.BigInt),
  usedAt: Schema.NullOr(Timestamptz),
  expiresAt: Timestamptz
})
type Row = typeof Row.Type
const grantRows = rowsOf(Row)

const utf8 = new TextEncoder()

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets
  const digest = yield* Digest.Digest
  const tokens = yield* Tokens

  const create = traced("Grants.create")(function*(grant: NewGrant) {
    const code = yield* secrets.make
    const now = yield* Clock.currentTimeMillis
    yield* sql`INSERT INTO oauth_grants ${
      sql.insert({
        codeHash: yield* secrets.hash(code),
        appId: grant.appId,
        accountId: grant.accountId,
        redirectUri: grant.redirectUri,
        scopes: Scopes.format(grant.scopes),
        codeChallenge: grant.codeChallenge ?? null,
        expiresAt: new Date(now + codeMillisMax),
        createdAt: new Date(now)
      })
    }`
    return code
  }, Effect.orDie)

  /**
   * Checks the PKCE verifier. A verifier without a challenge is refused, too: the challenge was stripped from the
   * request (RFC 9700, 4.8.2).
   */
  const proves = Effect.fnUntraced(function*(challenge: string | null, verifier: string | undefined) {
    if (challenge === null || verifier === undefined) return challenge === null && verifier === undefined
    if (!/^[\w.~-]{43,128}$/.test(verifier)) return false
    const hash = yield* digest.digest(Digest.sha256, utf8.encode(verifier))
    return Mac.timingSafeEqual(utf8.encode(Base64Url.encode(hash)), utf8.encode(challenge))
  })

  /** Returns the result of an exchange. A refusal also commits, because reuse of a code revokes its token. */
  const attempt = Effect.fnUntraced(function*(exchange: Exchange) {
    const hash = yield* secrets.hash(exchange.code)
    const [grant] = yield* grantRows(sql`SELECT * FROM oauth_grants WHERE code_hash = ${hash} FOR UPDATE`)
    const now = yield* Clock.currentTimeMillis
    if (grant === undefined || grant.appId !== exchange.appId) return Option.none()
    if (grant.usedAt !== null) {
      if (grant.tokenId !== null) yield* tokens.revoke({ tokenIds: [TokenId.make(grant.tokenId)] })
      return Option.none()
    }
    if (grant.expiresAt.getTime() <= now || grant.redirectUri !== exchange.redirectUri) return Option.none()
    if (!(yield* proves(grant.codeChallenge, exchange.codeVerifier))) return Option.none()
    const token = yield* tokens.issue(
      { appId: exchange.appId, accountId: AccountId.make(grant.accountId) },
      Scopes.parse(grant.scopes)
    )
    yield* sql`UPDATE oauth_grants SET used_at = ${new Date(
      now
    )}, token_id = ${token.tokenId} WHERE code_hash = ${hash}`
    return Option.some(token)
  })

  const exchange = traced("Grants.exchange")(function*(given: Exchange) {
    const outcome = yield* Effect.orDie(transaction(sql)(attempt(given)))
    return Option.isSome(outcome) ? outcome.value : yield* new InvalidGrant()
  })

  const allowed = traced("Grants.allowed")(
    function*(accountId: AccountId, appId: AppId, scopes: ReadonlyArray<string>) {
      const live = yield* scopesRows(sql`
        SELECT DISTINCT scopes FROM oauth_tokens
        WHERE account_id = ${accountId} AND app_id = ${appId} AND revoked_at IS NULL`)
      const requested = Scopes.format(scopes.toSorted())
      return live.some((token) => Scopes.format(Scopes.parse(token.scopes).toSorted()) === requested)
    },
    Effect.orDie
  )

  return Grants.of({ create, exchange, allowed })
})
