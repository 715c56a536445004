import { Clock, Context, Effect, Layer, Option, type Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { retryDeadlocks } from "../database/Transactions.ts"
import { recordVisit } from "../oauth/Visits.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { combined, defaultRole, givenBits } from "../staff/Permissions.ts"
import { UserState, userStateSql } from "../visibility/UserStates.ts"
import { ExpandMedia } from "./Settings.ts"
import { WebSettings } from "./WebSettings.ts"

/** Maximum browser sessions of a user; beyond it the oldest end. */
const sessionsOfUserMax = 10
/** Time after which an unused session ends, in milliseconds. */
export const sessionMillisMax = 365 * 24 * 3_600_000
/** Minimum interval between updates of a session's last use, in milliseconds. */
const seenMillis = 24 * 3_600_000
/** Maximum characters of a stored user agent. */
const userAgentCharactersMax = 255

/** Characters of a session's id: 32 bytes in base64url. */
const sessionIdCharactersMax = 43

/** How posts are shown to a user. */
const Reading = {
  /** Files that are shown after a click: sensitive ones, none, or all. */
  expandMedia: ExpandMedia,
  /** True if posts are open behind their content warning. */
  expandSpoilers: Schema.Boolean,
  /** True if animations play by themselves. */
  autoplayGifs: Schema.Boolean
}

/** User signed in to this server's own pages. */
export interface Session {
  readonly accountId: AccountId
  readonly username: string
  /** Language that the user chose (BCP 47). */
  readonly locale: string | undefined
  /** Permissions of the user's role, combined with those of everybody. */
  readonly permissions: bigint
  /** State of the user; never "disabled". */
  readonly state: UserState
  /** False for a user who signs in by the identity provider only. */
  readonly hasPassword: boolean
  readonly startedAt: Date
  /** Settings of the web client. */
  readonly web: WebSettings
  /** How posts are shown. */
  readonly reading: Schema.Struct<typeof Reading>["Type"]
  /** Id of the session; not a secret. */
  readonly sessionId: string
}

/** A session as its user sees it. */
interface ListedSession {
  readonly sessionId: string
  readonly userAgent: string
  readonly ip: string | undefined
  readonly createdAt: Date
  readonly seenAt: Date
}

const listedRows = rowsOf(
  Schema.Struct({
    idHash: Schema.Uint8Array,
    userAgent: Schema.String,
    ip: Schema.NullOr(Schema.String),
    createdAt: Timestamptz,
    seenAt: Timestamptz
  })
)

const sessionRows = rowsOf(
  Schema.Struct({
    accountId: Schema.BigInt,
    username: Schema.String,
    locale: Schema.NullOr(Schema.String),
    permissions: Schema.BigInt,
    everybodys: Schema.BigInt,
    state: UserState,
    hasPassword: Schema.Boolean,
    startedAt: Timestamptz,
    web: WebSettings,
    ...Reading,
    seenAt: Timestamptz,
    lastSeenAt: Schema.NullOr(Timestamptz),
    presentAt: Schema.NullOr(Timestamptz)
  })
)

/** Browser sessions; the cookie holds the secret, the database its hash. */
export class Sessions extends Context.Service<Sessions, {
  readonly start: (accountId: AccountId, browser: {
    readonly userAgent: string
    readonly address: string | undefined
  }) => Effect.Effect<Redacted.Redacted>
  /** Finds a session whose user may still sign in. */
  readonly find: (secret: Redacted.Redacted) => Effect.Effect<Option.Option<Session>>
  readonly end: (secret: Redacted.Redacted) => Effect.Effect<void>
  /** Returns the sessions of an account, the most recently used first. */
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<ListedSession>>
  /** Ends a session of the account by its id. Ids of other accounts' sessions do nothing. */
  readonly endById: (accountId: AccountId, sessionId: string) => Effect.Effect<void>
  /** Ends all sessions of an account, including sign-ins that await a second factor. */
  readonly endAll: (accountId: AccountId) => Effect.Effect<void>
}>()("murmuration/services/identity/Sessions") {
  static readonly layer = Layer.effect(Sessions, Effect.suspend(() => make))
}

const isIp = /^[0-9a-f.:]+$/i

/** Returns an IP address that Postgres' `inet` accepts; zoned addresses and socket paths are not stored. */
export const storedAddress = (address: string | undefined): string | undefined =>
  address !== undefined && isIp.test(address) ? address : undefined

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets
  const retryOnDeadlock = retryDeadlocks(sql)

  const start: Sessions["Service"]["start"] = traced("Sessions.start")(function*(accountId, browser) {
    const secret = yield* secrets.make
    const at = new Date(yield* Clock.currentTimeMillis)
    yield* sql`INSERT INTO sessions ${
      sql.insert({
        idHash: yield* secrets.hash(secret),
        accountId,
        userAgent: browser.userAgent.slice(0, userAgentCharactersMax),
        ip: storedAddress(browser.address) ?? null,
        createdAt: at,
        seenAt: at
      })
    }`
    yield* retryOnDeadlock(sql`DELETE FROM sessions WHERE id_hash IN (
      SELECT id_hash FROM sessions WHERE account_id = ${accountId}
      ORDER BY created_at DESC, id_hash OFFSET ${sessionsOfUserMax})`)
    return secret
  }, Effect.orDie)

  const find = traced("Sessions.find")(function*(secret: Redacted.Redacted) {
    const hash = yield* secrets.hash(secret)
    const now = yield* Clock.currentTimeMillis
    const [row] = yield* sessionRows(sql`
      SELECT s.account_id, a.username, u.locale, s.seen_at, c.seen_at AS present_at, u.last_seen_at, ${
      sql.literal(givenBits)
    } AS permissions,
        e.permissions AS everybodys, u.web_settings AS web, u.expand_media, u.expand_spoilers,
        u.autoplay_gifs, u.password_hash IS NOT NULL AS has_password, s.created_at AS started_at, ${
      sql.literal(userStateSql)
    } AS state
      FROM sessions s JOIN users u ON u.account_id = s.account_id JOIN accounts a ON a.id = s.account_id
        JOIN roles r ON r.id = u.role_id JOIN roles e ON e.id = ${defaultRole}
        LEFT JOIN email_choices c ON c.account_id = s.account_id AND c.due_at IS NOT NULL
      WHERE s.id_hash = ${hash} AND s.seen_at > ${new Date(now - sessionMillisMax)}
        AND NOT u.disabled AND a.suspended_at IS NULL AND NOT a.memorial`)
    if (row === undefined) return Option.none()
    if (now - row.seenAt.getTime() >= seenMillis) {
      yield* sql`UPDATE sessions SET seen_at = ${new Date(now)} WHERE id_hash = ${hash}`
    }
    if (row.state === "active") {
      // A failed write is ignored, as in `Tokens.find`.
      yield* Effect.catchTag(
        recordVisit(sql, row, now),
        "SqlError",
        (error) => Effect.logWarning("a visit could not be recorded; it is recorded at the next request", error)
      )
    }
    return Option.some({
      accountId: AccountId.make(row.accountId),
      username: row.username,
      locale: row.locale ?? undefined,
      permissions: combined(row.permissions, row.everybodys),
      state: row.state,
      hasPassword: row.hasPassword,
      startedAt: row.startedAt,
      web: row.web,
      reading: {
        expandMedia: row.expandMedia,
        expandSpoilers: row.expandSpoilers,
        autoplayGifs: row.autoplayGifs
      },
      sessionId: Base64Url.encode(hash)
    })
  }, Effect.orDie)

  const end = traced("Sessions.end")(function*(secret: Redacted.Redacted) {
    yield* sql`DELETE FROM sessions WHERE id_hash = ${yield* secrets.hash(secret)}`
  }, Effect.orDie)

  const list: Sessions["Service"]["list"] = traced("Sessions.list")(function*(accountId) {
    const since = new Date((yield* Clock.currentTimeMillis) - sessionMillisMax)
    const rows = yield* listedRows(sql`SELECT id_hash, user_agent, host(ip) AS ip, created_at, seen_at FROM sessions
      WHERE account_id = ${accountId} AND seen_at > ${since} ORDER BY seen_at DESC, id_hash`)
    return rows.map(({ createdAt, idHash, ip, seenAt, userAgent }) => ({
      sessionId: Base64Url.encode(idHash),
      userAgent,
      ip: ip?.replace(/^::ffff:(?=[0-9.]+$)/, ""),
      createdAt,
      seenAt
    }))
  }, Effect.orDie)

  const endById: Sessions["Service"]["endById"] = traced("Sessions.endById")(function*(accountId, sessionId) {
    const hash = sessionId.length > sessionIdCharactersMax
      ? undefined
      : Result.getOrUndefined(Base64Url.decode(sessionId))
    if (hash === undefined) return
    yield* sql`DELETE FROM sessions WHERE account_id = ${accountId} AND id_hash = ${hash}`
  }, Effect.orDie)

  const endAll = traced("Sessions.endAll")(
    function*(accountId: AccountId) {
      yield* sql`DELETE FROM sessions WHERE account_id = ${accountId}`
      yield* sql`DELETE FROM pending_sign_ins WHERE account_id = ${accountId}`
    },
    retryOnDeadlock,
    Effect.orDie
  )

  return Sessions.of({ start, find, end, list, endById, endAll })
})
