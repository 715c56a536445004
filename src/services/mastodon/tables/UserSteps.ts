import { Effect, Redacted } from "effect"
import { isBcryptHash } from "../../identity/PasswordBytes.ts"
import { secretCipher } from "../../secrets/Seals.ts"
import { otpSecret } from "../RailsEncryption.ts"
import { nowMark, type Step, type TextRow } from "../Step.ts"
import { lacksAccount, lacksUser, listOrNull } from "./ColumnSql.ts"

/** Password hash that no password matches: the user sets a new one by e-mail. */
const lockedHash = "!"

/** Value of a setting in the JSON text of a user's settings. */
const setting = (name: string) => `nullif(settings, '')::jsonb ->> '${name}'`

const roles: Step = {
  name: "roles",
  table: "user_roles",
  columns: "id:bigint name color position:int permissions:bigint highlighted:boolean require_2fa:boolean",
  write: [`INSERT INTO roles (id, name, color, position, permissions, highlighted, require_2fa)
    SELECT id, coalesce(name, ''), coalesce(color, ''), position, permissions, coalesce(highlighted, false), coalesce(require_2fa, false)
    FROM staged ON CONFLICT (id) DO UPDATE SET name = excluded.name, color = excluded.color, position = excluded.position,
      permissions = excluded.permissions, highlighted = excluded.highlighted, require_2fa = excluded.require_2fa`],
  changes: true
}

const passkeys: Step = {
  name: "passkeys",
  table: "webauthn_credentials",
  joins: "JOIN users u ON u.id = t.user_id",
  columns: "external_id public_key sign_count:bigint nickname created_at:timestamptz",
  computed: [["account_id:bigint", "u.account_id"]],
  rejects: [lacksUser("account_id")],
  // The credential's id and key are base64url without padding.
  write: [`INSERT INTO passkeys (credential_id, account_id, public_key, counter, transports, name, created_at)
    SELECT decode(rpad(translate(external_id, '-_', '+/'), ((length(external_id) + 3) / 4) * 4, '='), 'base64'), account_id,
      decode(rpad(translate(public_key, '-_', '+/'), ((length(public_key) + 3) / 4) * 4, '='), 'base64'), coalesce(sign_count, 0), '{}',
      coalesce(nullif(nickname, ''), 'Passkey'), created_at FROM staged ON CONFLICT (credential_id) DO NOTHING`],
  renews: "passkeys"
}

const apps: Step = {
  name: "apps",
  table: "oauth_applications",
  where: "NOT coalesce((to_jsonb(t) ->> 'superapp')::boolean, false)",
  columns: "id:bigint name uid secret redirect_uri scopes website created_at:timestamptz",
  rejects: [["coalesce(uid, '') = '' OR coalesce(secret, '') = ''", "the app has no id or no secret"]],
  write: [
    `INSERT INTO oauth_apps (id, client_id, client_secret_hash, name, website, redirect_uris, scopes, created_at, authorized_at)
    SELECT id, uid, sha256(convert_to(secret, 'UTF8')), name, nullif(website, ''),
      regexp_split_to_array(trim(both E' \\n\\r\\t' from coalesce(redirect_uri, '')), E'\\\\s+'), coalesce(nullif(scopes, ''), 'read'), created_at, created_at
    FROM staged ON CONFLICT (id) DO NOTHING`
  ]
}

const tokens: Step = {
  name: "tokens",
  table: "oauth_access_tokens",
  joins:
    "LEFT JOIN users u ON u.id = t.resource_owner_id LEFT JOIN oauth_applications app ON app.id = t.application_id",
  where: `t.revoked_at IS NULL AND NOT coalesce((to_jsonb(app) ->> 'superapp')::boolean, false)
    AND (t.expires_in IS NULL OR t.created_at + t.expires_in * interval '1 second' > '${nowMark}'::timestamp)`,
  columns:
    "id:bigint token application_id:bigint scopes created_at:timestamptz last_used_at:timestamptz last_used_ip resource_owner_id",
  computed: [["account_id:bigint", "u.account_id"]],
  rejects: [
    ["coalesce(token, '') = ''", "the token is empty"],
    [
      "resource_owner_id IS NOT NULL AND NOT EXISTS (SELECT FROM users u WHERE u.account_id = staged.account_id)",
      "the user was not copied"
    ],
    [
      "application_id IS NOT NULL AND NOT EXISTS (SELECT FROM oauth_apps a WHERE a.id = staged.application_id)",
      "the app was not copied"
    ]
  ],
  write: [`INSERT INTO oauth_tokens (id, token_hash, app_id, account_id, scopes, last_used_at, last_used_ip, created_at)
    SELECT id, sha256(convert_to(token, 'UTF8')), application_id, account_id, coalesce(nullif(scopes, ''), 'read'), last_used_at,
      last_used_ip::inet, created_at FROM staged ON CONFLICT (id) DO UPDATE SET last_used_at = excluded.last_used_at`],
  ends: "oauth_tokens"
}

const markers: Step = {
  name: "markers",
  table: "markers",
  joins: "JOIN users u ON u.id = t.user_id",
  columns: "timeline last_read_id:bigint lock_version:int updated_at:timestamptz",
  computed: [["account_id:bigint", "u.account_id"]],
  rejects: [lacksAccount("account_id")],
  write: [`INSERT INTO markers (account_id, timeline, last_read_id, version, updated_at)
    SELECT account_id, timeline, last_read_id, coalesce(lock_version, 0), updated_at FROM staged
    ON CONFLICT (account_id, timeline) DO UPDATE SET last_read_id = excluded.last_read_id, version = excluded.version,
      updated_at = excluded.updated_at`],
  changes: true
}

/** Users with their credentials, and the apps that they use. `decrypt` opens secrets that Rails sealed. */
export const make = Effect.fnUntraced(function*(decrypt: (message: string) => string | undefined) {
  const seal = yield* secretCipher("secrets of two-factor sign-in")

  /** Locks a password that cannot be verified here, or that the user has at another service, such as LDAP. */
  const withPassword = (row: TextRow): TextRow =>
    isBcryptHash(row["encrypted_password"] ?? "")
      ? { ...row, locked: null }
      : { ...row, ["encrypted_password"]: lockedHash, locked: "true" }

  /** Encrypts the secret of two-factor sign-in with this server's key. Without it the password alone must not sign in. */
  const withFactor = Effect.fnUntraced(function*(row: TextRow) {
    if (row["otp_required_for_login"] !== "true") return { ...row, factor: "off" }
    const secret = otpSecret(row["otp_secret"] ?? "", decrypt)
    if (secret === undefined) {
      return { ...row, factor: "lost", ["encrypted_password"]: lockedHash }
    }
    const sealed = yield* seal.encrypt(Redacted.make(secret))
    return { ...row, factor: "on", sealed: Buffer.from(sealed).toString("hex") }
  })

  const users: Step = {
    name: "users",
    table: "users",
    columns:
      `account_id:bigint email encrypted_password role_id:bigint locale time_zone approved:boolean disabled:boolean
      confirmed_at:timestamptz created_at:timestamptz settings chosen_languages current_sign_in_at:timestamptz
      last_sign_in_at:timestamptz otp_secret otp_required_for_login consumed_timestep:bigint age_verified_at:timestamptz
      unconfirmed_email updated_at:timestamptz`,
    prepared: "factor sealed locked",
    prepare: (rows) => Effect.forEach(rows, (row) => withFactor(withPassword(row))),
    rejects: [
      lacksAccount("account_id"),
      ["coalesce(email, '') = ''", "the user has no e-mail address"]
    ],
    write: [
      `DELETE FROM transfer_rejects r USING staged s WHERE r.step IN ('passwords', 'second factors') AND r.row_id = s.account_id`,
      `INSERT INTO transfer_rejects (step, row_id, reason) SELECT 'passwords', account_id,
        'no password can be verified here; the user sets a new one by e-mail' FROM staged
        WHERE locked IS NOT NULL ON CONFLICT DO NOTHING`,
      `INSERT INTO transfer_rejects (step, row_id, reason) SELECT 'second factors', account_id,
        'the secret of two-factor sign-in cannot be read; the user sets a new password by e-mail' FROM staged
        WHERE factor = 'lost' ON CONFLICT DO NOTHING`,
      `INSERT INTO users (account_id, email, unconfirmed_email, password_hash, role_id, locale, time_zone, approved, disabled,
        confirmed_at, created_at, default_visibility, default_sensitive, default_language, chosen_languages, show_application,
        noindex, expand_media, expand_spoilers, autoplay_gifs, last_seen_at, last_sign_in_at, otp_secret, otp_enabled_at, otp_last_step,
        age_verified_at, default_quote_policy)
      SELECT account_id, email, nullif(unconfirmed_email, ''), encrypted_password,
        coalesce((SELECT r.id FROM roles r WHERE r.id = role_id), -99), nullif(locale, ''), nullif(time_zone, ''), coalesce(approved, true),
        coalesce(disabled, false), confirmed_at, created_at,
        CASE WHEN ${setting("default_privacy")} IN ('public', 'unlisted', 'private') THEN ${
        setting("default_privacy")
      } END,
        coalesce((${setting("default_sensitive")})::boolean, false), nullif(${setting("default_language")}, ''),
        ${listOrNull("chosen_languages")}, coalesce((${setting("show_application")})::boolean, true),
        coalesce((${setting("noindex")})::boolean, false),
        CASE WHEN ${setting("web.display_media")} IN ('show_all', 'hide_all') THEN ${
        setting("web.display_media")
      } ELSE 'default' END,
        coalesce((${setting("web.expand_content_warnings")})::boolean, false), coalesce((${
        setting("web.auto_play")
      })::boolean, false),
        current_sign_in_at, coalesce(current_sign_in_at, last_sign_in_at), decode(sealed, 'hex'),
        CASE WHEN sealed IS NOT NULL THEN updated_at END, CASE WHEN sealed IS NOT NULL THEN consumed_timestep END, age_verified_at,
        CASE WHEN ${setting("default_quote_policy")} IN ('public', 'followers', 'nobody') THEN ${
        setting("default_quote_policy")
      } ELSE 'public' END
      FROM staged ON CONFLICT (account_id) DO UPDATE SET email = excluded.email, password_hash = excluded.password_hash,
        role_id = excluded.role_id, approved = excluded.approved, disabled = excluded.disabled, confirmed_at = excluded.confirmed_at,
        unconfirmed_email = excluded.unconfirmed_email, locale = excluded.locale, time_zone = excluded.time_zone,
        default_visibility = excluded.default_visibility, default_sensitive = excluded.default_sensitive,
        default_language = excluded.default_language, default_quote_policy = excluded.default_quote_policy,
        chosen_languages = excluded.chosen_languages, show_application = excluded.show_application, noindex = excluded.noindex,
        expand_media = excluded.expand_media, expand_spoilers = excluded.expand_spoilers, autoplay_gifs = excluded.autoplay_gifs,
        age_verified_at = excluded.age_verified_at, otp_secret = excluded.otp_secret, otp_enabled_at = excluded.otp_enabled_at, otp_last_step = excluded.otp_last_step`
    ],
    changes: true,
    ends: "users",
    endsBy: { column: "account_id", cursorOf: "local accounts" }
  }
  return [roles, users, passkeys, apps, tokens, markers] as const
})
