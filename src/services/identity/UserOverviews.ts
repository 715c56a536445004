import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { listCountMax } from "../database/BoundedCounts.ts"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { sessionMillisMax } from "./Sessions.ts"

const At = Schema.NullOr(Timestamptz)

const UserOverview = Schema.Struct({
  id: Schema.BigInt,
  username: Schema.String,
  displayName: Schema.String,
  createdAt: Timestamptz,
  email: Schema.String,
  /** Address that replaces `email` once it is confirmed. */
  unconfirmedEmail: Schema.NullOr(Schema.String),
  role: Schema.String,
  confirmed: Schema.Boolean,
  approved: Schema.Boolean,
  disabled: Schema.Boolean,
  silenced: Schema.Boolean,
  suspended: Schema.Boolean,
  sensitized: Schema.Boolean,
  memorial: Schema.Boolean,
  /** `name@domain` or local name of the account to which this one moved. */
  movedTo: Schema.NullOr(Schema.String),
  /** Second factor by codes; `missing` if the role has no permissions without one. */
  secondFactor: Schema.Literals(["on", "off", "missing"]),
  recoveryCodes: Schema.Int,
  passkeys: Schema.Int,
  /** False for a user who signs in by the identity provider only. */
  hasPassword: Schema.Boolean,
  /** Identities at OpenID providers. */
  identities: Schema.Int,
  /** Browsers that are signed in. */
  sessions: Schema.Int,
  /** Apps with a token. */
  apps: Schema.Int,
  /** Tokens without an app, made by the command line. */
  operatorTokens: Schema.Int,
  statusesCount: Schema.Int,
  followersCount: Schema.Int,
  followingCount: Schema.Int,
  lastStatusAt: At,
  lastSeenAt: At,
  lastSignInAt: At,
  /** Language of pages and e-mails (BCP 47). */
  locale: Schema.NullOr(Schema.String),
  /** Language of new posts. */
  defaultLanguage: Schema.NullOr(Schema.String),
  /** Languages of posts that the user reads; null for all. */
  chosenLanguages: Schema.NullOr(Schema.Array(Schema.String)),
  timeZone: Schema.NullOr(Schema.String),
  /** Account whose invite was used to sign up. */
  invitedBy: Schema.NullOr(Schema.String),
  /** Reports about the account, and those that are open. */
  reports: Schema.Int,
  openReports: Schema.Int,
  strikes: Schema.Int
})
export type UserOverview = typeof UserOverview.Type
const overviewRows = rowsOf(UserOverview)

/** Overviews of local accounts for operators. */
export class UserOverviews extends Context.Service<UserOverviews, {
  /** Returns the overview of an existing user. Counts are exact up to `listCountMax`. */
  readonly of: (accountId: AccountId) => Effect.Effect<UserOverview>
}>()("murmuration/services/identity/UserOverviews") {
  static readonly layer = Layer.effect(
    UserOverviews,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const count = (rows: Fragment) =>
        sql`(SELECT count(*)::int FROM (${rows} LIMIT ${sql.literal(String(listCountMax + 1))}) counted)`
      const tokens = sql`oauth_tokens t WHERE t.account_id = a.id AND t.revoked_at IS NULL`
      const of = traced("UserOverviews.of")(function*(accountId: AccountId) {
        const since = new Date((yield* Clock.currentTimeMillis) - sessionMillisMax)
        return singleRow(
          yield* overviewRows(sql`SELECT a.id, a.username, a.display_name, a.created_at, u.email, u.unconfirmed_email,
            r.name AS role, u.confirmed_at IS NOT NULL AS confirmed, u.approved, u.disabled,
            a.silenced_at IS NOT NULL AS silenced, a.suspended_at IS NOT NULL AS suspended,
            a.sensitized_at IS NOT NULL AS sensitized, a.memorial,
            (SELECT m.username || coalesce('@' || m.domain, '') FROM accounts m WHERE m.id = a.moved_to_id) AS moved_to,
            CASE WHEN u.otp_enabled_at IS NOT NULL THEN 'on' WHEN r.require_2fa THEN 'missing' ELSE 'off' END
              AS second_factor,
            ${count(sql`SELECT FROM recovery_codes c WHERE c.account_id = a.id`)} AS recovery_codes,
            ${count(sql`SELECT FROM passkeys p WHERE p.account_id = a.id`)} AS passkeys,
            u.password_hash IS NOT NULL AS has_password,
            ${count(sql`SELECT FROM identities i WHERE i.account_id = a.id`)} AS identities,
            ${count(sql`SELECT FROM sessions s WHERE s.account_id = a.id AND s.seen_at > ${since}`)} AS sessions,
            ${count(sql`SELECT DISTINCT t.app_id FROM ${tokens} AND t.app_id IS NOT NULL`)} AS apps,
            ${count(sql`SELECT FROM ${tokens} AND t.app_id IS NULL AND t.session_hash IS NULL`)} AS operator_tokens,
            coalesce(c.statuses_count, 0) AS statuses_count, coalesce(c.followers_count, 0) AS followers_count,
            coalesce(c.following_count, 0) AS following_count, c.last_status_at, u.last_seen_at, u.last_sign_in_at,
            u.locale, u.default_language, u.chosen_languages, u.time_zone,
            (SELECT b.username FROM invites i JOIN accounts b ON b.id = i.account_id WHERE i.id = u.invite_id)
              AS invited_by,
            ${count(sql`SELECT FROM reports e WHERE e.target_account_id = a.id`)} AS reports,
            ${count(sql`SELECT FROM reports e WHERE e.target_account_id = a.id AND e.action_taken_at IS NULL`)}
              AS open_reports,
            ${count(sql`SELECT FROM account_warnings w WHERE w.target_account_id = a.id`)} AS strikes
          FROM accounts a JOIN users u ON u.account_id = a.id JOIN roles r ON r.id = u.role_id
            LEFT JOIN account_stats c ON c.account_id = a.id WHERE a.id = ${accountId}`)
        )
      }, Effect.orDie)
      return UserOverviews.of({ of })
    })
  )
}
