import { Array as Arr, Clock, Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { Hex } from "effect/encoding"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import { AccountId, AppId, TokenId } from "../database/Ids.ts"
import { idRows, rowsOf, Timestamptz } from "../database/Rows.ts"
import { retryDeadlocks } from "../database/Transactions.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { combined, defaultRole, givenBits } from "../staff/Permissions.ts"
import { UserState, userStateSql } from "../visibility/UserStates.ts"
import * as Scopes from "./Scopes.ts"
import type { TokenInfo } from "./TokenInfo.ts"
import { isStale, recordVisit } from "./Visits.ts"

/** Maximum cached tokens of a process. */
const cachedTokensMax = 50_000
/** Maximum age of a cached token, in case the message about its revocation is lost, in milliseconds. */
export const cachedTokenMillisMax = 30_000

/** A new token; its secret is only available here. */
export interface IssuedToken {
  readonly secret: Redacted.Redacted
  readonly tokenId: TokenId
  readonly scopes: ReadonlyArray<string>
  readonly createdAt: Date
}

/** Tokens to revoke: single ones, all of an account (optionally of one app), or all of an app. */
type Revocation =
  | { readonly tokenIds: ReadonlyArray<TokenId> }
  | { readonly accountId: AccountId; readonly appId?: AppId }
  | { readonly appId: AppId }

/** Maximum live tokens per user and app; beyond it the oldest are revoked. */
export const tokensOfUserAndAppMax = 50
/** Maximum live tokens of one user with all apps; beyond it the least recently used ones are revoked. */
export const tokensOfUserMax = 200
/** Maximum live tokens of one app without a user; beyond it the oldest are revoked. */
export const tokensOfAppMax = 100

/** Access tokens. */
export class Tokens extends Context.Service<Tokens, {
  /** Finds a token by its secret, including revoked ones. Takes one query, or none if it is cached. */
  readonly find: (token: Redacted.Redacted) => Effect.Effect<Option.Option<TokenInfo>>
  /**
   * Issues a token. A user who authorises an app again gets a new one. Mastodon returns the first one again, but here
   * only the hash of a token is stored.
   */
  readonly issue: (
    to: { readonly appId: AppId | undefined; readonly accountId?: AccountId | undefined },
    scopes: ReadonlyArray<string>
  ) => Effect.Effect<IssuedToken>
  /**
   * Revokes tokens; no other code does. Closes their streams, deletes their push subscriptions and evicts them from all
   * caches.
   */
  readonly revoke: (which: Revocation) => Effect.Effect<void>
}>()("murmuration/services/oauth/Tokens") {
  static readonly layer = Layer.effect(Tokens, Effect.suspend(() => make)).pipe(Layer.provide(Changes.layer))
}

/** SQL for the `UserState` of a token `t` with its user `u` and account `a` (LEFT JOIN). */
export const userState = `CASE WHEN t.account_id IS NULL THEN 'active' ELSE ${userStateSql} END`

const TokenRow = Schema.Struct({
  id: TokenId,
  appId: Schema.NullOr(AppId),
  accountId: Schema.NullOr(AccountId),
  scopes: Schema.String,
  revoked: Schema.Boolean,
  createdAt: Timestamptz,
  lastUsedAt: Schema.NullOr(Timestamptz),
  lastSeenAt: Schema.NullOr(Timestamptz),
  presentAt: Schema.NullOr(Timestamptz),
  permissions: Schema.NullOr(Schema.BigInt),
  defaultPermissions: Schema.NullOr(Schema.BigInt),
  locale: Schema.NullOr(Schema.String),
  state: UserState
})
type TokenRow = typeof TokenRow.Type
const tokenRows = rowsOf(TokenRow)

const infoOf = (row: TokenRow): TokenInfo => ({
  tokenId: row.id,
  appId: row.appId ?? undefined,
  accountId: row.accountId ?? undefined,
  scopes: new Set(Scopes.parse(row.scopes)),
  revoked: row.revoked,
  permissions: row.permissions === null ? 0n : combined(row.permissions, row.defaultPermissions ?? 0n),
  state: row.state,
  locale: row.locale ?? undefined,
  createdAt: row.createdAt
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets
  const broadcast = yield* Broadcast
  /** Tokens by the hex of their hash. */
  const cache = yield* Cache.make<string, TokenInfo>({
    rows: ({ accountId, tokenId }) =>
      accountId === undefined
        ? [["token", tokenId]]
        // A suspension, which is a column of the account, keeps its user out.
        : [["token", tokenId], ["user", accountId], ["moderation", accountId]],
    kinds: ["roles"],
    max: { entries: cachedTokensMax },
    millisMax: cachedTokenMillisMax,
    aloneMillisMax: cachedTokenMillisMax
  })

  /** Records the use of a token and the visit of its user. */
  const recordUse = Effect.fnUntraced(
    function*({ accountId, id, lastSeenAt, lastUsedAt, presentAt, state }: TokenRow, now: number) {
      if (isStale(lastUsedAt, now)) {
        yield* sql`UPDATE oauth_tokens SET last_used_at = ${new Date(now)} WHERE id = ${id}`
      }
      if (accountId !== null && state === "active") yield* recordVisit(sql, { accountId, lastSeenAt, presentAt }, now)
    }
  )

  const find = traced("Tokens.find")(function*(secret: Redacted.Redacted) {
    const hash = yield* secrets.hash(secret)
    return Option.fromUndefinedOr(yield* cache.get(Hex.encode(hash), load(hash)))
  }, Effect.orDie)

  const load = Effect.fnUntraced(function*(hash: Uint8Array) {
    const now = yield* Clock.currentTimeMillis
    const [row] = yield* tokenRows(sql`
      SELECT t.id, t.app_id, t.account_id, t.scopes, t.revoked_at IS NOT NULL AS revoked, t.created_at, t.last_used_at,
        u.last_seen_at, c.seen_at AS present_at, u.locale, ${
      sql.literal(givenBits)
    } AS permissions, e.permissions AS default_permissions,
        ${sql.literal(userState)} AS state
      FROM oauth_tokens t
      LEFT JOIN users u ON u.account_id = t.account_id
      LEFT JOIN accounts a ON a.id = t.account_id
      LEFT JOIN roles r ON r.id = u.role_id
      LEFT JOIN roles e ON e.id = ${defaultRole}
      LEFT JOIN email_choices c ON c.account_id = t.account_id AND c.due_at IS NOT NULL
      WHERE t.token_hash = ${hash}`)
    if (row === undefined) return undefined
    // A failed write is ignored: finding a token only needs a read.
    if (!row.revoked) {
      yield* Effect.catchTag(
        recordUse(row, now),
        "SqlError",
        (error) => Effect.logWarning("the use of a token could not be recorded; it is recorded at the next use", error)
      )
    }
    return infoOf(row)
  })

  const issue: Tokens["Service"]["issue"] = traced("Tokens.issue")(function*({ accountId, appId }, scopes) {
    const secret = yield* secrets.make
    const hash = yield* secrets.hash(secret)
    const now = yield* Clock.currentTimeMillis
    const createdAt = new Date(now)
    const rows = yield* idRows(sql`
      INSERT INTO oauth_tokens (id, token_hash, app_id, account_id, scopes, created_at)
      VALUES (next_id(${now}), ${hash}, ${appId ?? null}, ${accountId ?? null}, ${Scopes.format(scopes)}, ${createdAt})
      RETURNING id`)
    if (accountId !== undefined && appId !== undefined) {
      yield* sql`UPDATE oauth_apps SET authorized_at = ${createdAt} WHERE id = ${appId} AND authorized_at IS NULL`
    }
    // Runs after the commit: of concurrent ones, the last sees all.
    yield* sql.afterCommit(Effect.orDie(revokeBeyondMax(accountId, appId)))
    return { secret, tokenId: TokenId.make(Option.getOrThrow(Arr.head(rows)).id), scopes, createdAt }
  }, Effect.orDie)

  /** Revokes tokens beyond the maxima of the user and of the app. */
  const revokeBeyondMax = Effect.fnUntraced(function*(accountId: AccountId | undefined, appId: AppId | undefined) {
    const owned = sql`SELECT id FROM oauth_tokens WHERE revoked_at IS NULL AND account_id`
    const old = [
      ...(appId === undefined ? [] : yield* idRows(
        accountId === undefined
          ? sql`${owned} IS NULL AND app_id = ${appId} ORDER BY id DESC OFFSET ${tokensOfAppMax}`
          : sql`${owned} = ${accountId} AND app_id = ${appId} ORDER BY id DESC OFFSET ${tokensOfUserAndAppMax}`
      )),
      ...(accountId === undefined ? [] : yield* idRows(
        sql`${owned} = ${accountId} ORDER BY coalesce(last_used_at, created_at) DESC, id DESC OFFSET ${tokensOfUserMax}`
      ))
    ]
    if (old.length > 0) yield* revoke({ tokenIds: old.map(({ id }) => TokenId.make(id)) })
  })

  /** Condition: the row belongs to this account, this app, or this app's use by this account. */
  const ownedBy = (which: { readonly accountId?: AccountId; readonly appId?: AppId }) =>
    sql.and([
      ...(which.accountId === undefined ? [] : [sql`account_id = ${which.accountId}`]),
      ...(which.appId === undefined ? [] : [sql`app_id = ${which.appId}`])
    ])

  /** Revokes the live tokens that meet a condition, and announces that after the commit. */
  const revokeWhere = Effect.fnUntraced(function*(condition: Fragment, at: Date) {
    const ended = yield* idRows(sql`
      WITH ended AS (UPDATE oauth_tokens SET revoked_at = ${at} WHERE revoked_at IS NULL AND ${condition} RETURNING id),
      silenced AS (DELETE FROM push_subscriptions WHERE token_id IN (SELECT id FROM ended))
      SELECT id FROM ended`)
    if (ended.length === 0) return
    const tokenIds = ended.map(({ id }) => id)
    yield* sql.afterCommit(broadcast.publish({ _tag: "Revoked", tokenIds, accountIds: [] }))
  })

  const revoke = traced("Tokens.revoke")(
    function*(which: Revocation) {
      const at = new Date(yield* Clock.currentTimeMillis)
      if ("tokenIds" in which) {
        return which.tokenIds.length === 0
          ? undefined
          : yield* revokeWhere(sql.in("id", which.tokenIds), at)
      }
      // Unused codes could still be exchanged for new tokens.
      yield* sql`UPDATE oauth_grants SET used_at = ${at} WHERE used_at IS NULL AND ${ownedBy(which)}`
      yield* revokeWhere(ownedBy(which), at)
    },
    retryDeadlocks(sql),
    Effect.orDie
  )

  return Tokens.of({ find, issue, revoke })
})
