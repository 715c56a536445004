import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Accounts, users, roles and credentials. Secrets (tokens, codes, mail links) are stored as SHA-256 hashes.
 * Rows that change with every follow or post (`account_stats`, `actors`) are separate from rows that pages read.
 */
const statements = [
  `CREATE SEQUENCE id_sequence`,
  // Mastodon's ids: milliseconds since 1970 in the upper 48 bits. The time is a parameter, so that simulations replay.
  `CREATE FUNCTION next_id(ms bigint) RETURNS bigint LANGUAGE sql VOLATILE
     AS $$ SELECT (ms << 16) | (nextval('id_sequence') & 65535) $$`,
  `CREATE TABLE accounts (
    id bigint PRIMARY KEY,
    username text NOT NULL,
    domain text,
    uri text,
    url text,
    display_name text NOT NULL DEFAULT '',
    note text NOT NULL DEFAULT '',
    note_html text NOT NULL DEFAULT '',
    fields jsonb NOT NULL DEFAULT '[]',
    locked boolean NOT NULL DEFAULT false,
    bot boolean NOT NULL DEFAULT false,
    discoverable boolean,
    indexable boolean NOT NULL DEFAULT false,
    hide_collections boolean,
    show_media boolean NOT NULL DEFAULT true,
    show_media_replies boolean NOT NULL DEFAULT true,
    show_featured boolean NOT NULL DEFAULT true,
    avatar_description text NOT NULL DEFAULT '',
    header_description text NOT NULL DEFAULT '',
    attribution_domains text[] NOT NULL DEFAULT '{}',
    memorial boolean NOT NULL DEFAULT false,
    moved_to_id bigint REFERENCES accounts (id) ON DELETE SET NULL,
    silenced_at timestamptz,
    suspended_at timestamptz,
    sensitized_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  `CREATE UNIQUE INDEX accounts_handle ON accounts (lower(username), lower(coalesce(domain, '')))`,
  `CREATE UNIQUE INDEX accounts_uri ON accounts (uri) WHERE uri IS NOT NULL`,
  `CREATE TABLE actors (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    epoch bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50)`,
  `CREATE TABLE account_stats (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    followers_count integer NOT NULL DEFAULT 0,
    following_count integer NOT NULL DEFAULT 0,
    statuses_count integer NOT NULL DEFAULT 0,
    last_status_at timestamptz
  ) WITH (fillfactor = 50)`,
  `CREATE TABLE roles (
    id bigint PRIMARY KEY,
    name text NOT NULL,
    color text NOT NULL DEFAULT '',
    position integer NOT NULL,
    permissions bigint NOT NULL DEFAULT 0,
    highlighted boolean NOT NULL DEFAULT false,
    collection_limit integer NOT NULL DEFAULT 10,
    require_2fa boolean NOT NULL DEFAULT false
  )`,
  // Permission bits of Mastodon's role table: everyone may invite; the three initial staff roles.
  `INSERT INTO roles (id, name, color, position, permissions, highlighted) VALUES
    (-99, '', '', -1, 65536, false),
    (1, 'Moderator', '', 10, 1308, true),
    (2, 'Admin', '', 100, 983036, true),
    (3, 'Owner', '', 1000, 1, true)`,
  `CREATE TABLE users (
    account_id bigint PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    email text NOT NULL,
    unconfirmed_email text,
    password_hash text NOT NULL,
    role_id bigint NOT NULL DEFAULT -99 REFERENCES roles (id),
    locale text,
    time_zone text,
    reason text,
    approved boolean NOT NULL DEFAULT true,
    disabled boolean NOT NULL DEFAULT false,
    confirmed_at timestamptz,
    created_by_app_id bigint,
    default_visibility text,
    default_sensitive boolean NOT NULL DEFAULT false,
    default_language text,
    default_quote_policy text NOT NULL DEFAULT 'public',
    chosen_languages text[],
    show_application boolean NOT NULL DEFAULT true,
    expand_media text NOT NULL DEFAULT 'default',
    expand_spoilers boolean NOT NULL DEFAULT false,
    autoplay_gifs boolean NOT NULL DEFAULT false,
    last_seen_at timestamptz,
    last_sign_in_at timestamptz,
    created_at timestamptz NOT NULL
  )`,
  `CREATE UNIQUE INDEX users_email ON users (lower(email))`,
  `CREATE INDEX users_last_seen ON users (last_seen_at)`,
  // Usernames of deleted accounts are never given again.
  `CREATE TABLE retired_usernames (username text PRIMARY KEY, retired_at timestamptz NOT NULL)`,
  // purpose: confirmation | password_reset
  `CREATE TABLE mail_tokens (
    token_hash bytea PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    purpose text NOT NULL,
    email text NOT NULL,
    redirect_app_id bigint,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX mail_tokens_account ON mail_tokens (account_id, purpose)`,
  `CREATE TABLE sessions (
    id_hash bytea PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    user_agent text NOT NULL DEFAULT '',
    ip inet,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL
  )`,
  `CREATE INDEX sessions_account ON sessions (account_id, created_at)`,
  `CREATE TABLE oauth_apps (
    id bigint PRIMARY KEY,
    client_id text NOT NULL UNIQUE,
    client_secret_hash bytea NOT NULL,
    name text NOT NULL,
    website text,
    redirect_uris text[] NOT NULL,
    scopes text NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE TABLE oauth_grants (
    code_hash bytea PRIMARY KEY,
    app_id bigint NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    redirect_uri text NOT NULL,
    scopes text NOT NULL,
    code_challenge text,
    token_id bigint,
    used_at timestamptz,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE TABLE oauth_tokens (
    id bigint PRIMARY KEY,
    token_hash bytea NOT NULL UNIQUE,
    app_id bigint REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id bigint REFERENCES users (account_id) ON DELETE CASCADE,
    scopes text NOT NULL,
    revoked_at timestamptz,
    last_used_at timestamptz,
    last_used_ip inet,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX oauth_tokens_account ON oauth_tokens (account_id, app_id)`,
  `CREATE INDEX oauth_tokens_app ON oauth_tokens (app_id)`,
  `CREATE TABLE invites (
    id bigint PRIMARY KEY,
    code text NOT NULL UNIQUE,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    max_uses integer,
    uses integer NOT NULL DEFAULT 0,
    expires_at timestamptz,
    autofollow boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL
  )`,
  // Secrets made once (cookie signing key, VAPID), for nodes without a shared DATA_DIR.
  `CREATE TABLE secrets (name text PRIMARY KEY, value text NOT NULL, created_at timestamptz NOT NULL)`,
  `CREATE TABLE settings (name text PRIMARY KEY, value jsonb NOT NULL, updated_at timestamptz NOT NULL)`,
  `CREATE TABLE rules (
    id bigint PRIMARY KEY,
    priority integer NOT NULL DEFAULT 0,
    text text NOT NULL,
    hint text NOT NULL DEFAULT '',
    translations jsonb NOT NULL DEFAULT '{}',
    deleted_at timestamptz
  )`,
  `CREATE TABLE custom_emojis (
    id bigint PRIMARY KEY,
    shortcode text NOT NULL,
    domain text,
    url text NOT NULL,
    static_url text NOT NULL,
    visible_in_picker boolean NOT NULL DEFAULT true,
    disabled boolean NOT NULL DEFAULT false,
    category text,
    created_at timestamptz NOT NULL
  )`,
  `CREATE UNIQUE INDEX custom_emojis_shortcode ON custom_emojis (shortcode, coalesce(domain, ''))`,
  // One row per user and week, for the instance activity and NodeInfo.
  `CREATE TABLE weekly_logins (
    week date NOT NULL,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    PRIMARY KEY (week, account_id)
  )`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
