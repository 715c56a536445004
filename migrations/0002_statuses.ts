import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Posts and interactions with them. Visibility is a word; `deleted_at` marks a soft-deleted status. */
const statements = [
  `CREATE TABLE statuses (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id),
    uri text,
    url text,
    local boolean NOT NULL DEFAULT true,
    text text NOT NULL DEFAULT '',
    html text NOT NULL DEFAULT '',
    spoiler_text text NOT NULL DEFAULT '',
    sensitive boolean NOT NULL DEFAULT false,
    visibility text NOT NULL CHECK (visibility IN ('public', 'unlisted', 'private', 'direct')),
    language text,
    in_reply_to_id bigint,
    in_reply_to_account_id bigint,
    reblog_of_id bigint REFERENCES statuses (id),
    -- Id of the status that began the conversation.
    conversation_id bigint NOT NULL,
    application_id bigint REFERENCES oauth_apps (id) ON DELETE SET NULL,
    created_at timestamptz NOT NULL,
    edited_at timestamptz,
    deleted_at timestamptz
  )`,
  `CREATE UNIQUE INDEX statuses_uri ON statuses (uri) WHERE uri IS NOT NULL`,
  `CREATE INDEX statuses_account ON statuses (account_id, id DESC) WHERE deleted_at IS NULL`,
  `CREATE UNIQUE INDEX statuses_reblog ON statuses (account_id, reblog_of_id) WHERE reblog_of_id IS NOT NULL AND deleted_at IS NULL`,
  `CREATE INDEX statuses_reblogs ON statuses (reblog_of_id, id DESC) WHERE reblog_of_id IS NOT NULL AND deleted_at IS NULL`,
  `CREATE INDEX statuses_replies ON statuses (in_reply_to_id, id) WHERE in_reply_to_id IS NOT NULL AND deleted_at IS NULL`,
  `CREATE INDEX statuses_conversation ON statuses (conversation_id)`,
  `CREATE INDEX statuses_public ON statuses (id DESC)
     WHERE visibility = 'public' AND deleted_at IS NULL AND reblog_of_id IS NULL`,
  `CREATE INDEX statuses_deleted ON statuses (deleted_at) WHERE deleted_at IS NOT NULL`,
  `CREATE TABLE status_stats (
    status_id bigint PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    replies_count integer NOT NULL DEFAULT 0,
    reblogs_count integer NOT NULL DEFAULT 0,
    favourites_count integer NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50)`,
  `CREATE TABLE status_edits (
    id bigint PRIMARY KEY,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    text text NOT NULL,
    html text NOT NULL,
    spoiler_text text NOT NULL,
    sensitive boolean NOT NULL,
    language text,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX status_edits_status ON status_edits (status_id, id)`,
  // silent: named in the text, but neither notified nor addressed (allowed_mentions, blocks).
  `CREATE TABLE mentions (
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    silent boolean NOT NULL DEFAULT false,
    PRIMARY KEY (status_id, account_id)
  )`,
  `CREATE INDEX mentions_account ON mentions (account_id, status_id DESC)`,
  `CREATE TABLE tags (
    id bigint PRIMARY KEY,
    name text NOT NULL UNIQUE,
    display_name text NOT NULL,
    listable boolean NOT NULL DEFAULT true,
    usable boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    last_status_at timestamptz
  )`,
  `CREATE TABLE statuses_tags (
    tag_id bigint NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, status_id)
  )`,
  `CREATE INDEX statuses_tags_status ON statuses_tags (status_id)`,
  `CREATE TABLE tag_days (
    tag_id bigint NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    day date NOT NULL,
    account_id bigint NOT NULL,
    uses integer NOT NULL DEFAULT 1,
    PRIMARY KEY (tag_id, day, account_id)
  )`,
  `CREATE TABLE favourites (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    UNIQUE (account_id, status_id)
  )`,
  `CREATE INDEX favourites_status ON favourites (status_id, id)`,
  `CREATE INDEX favourites_account ON favourites (account_id, id)`,
  `CREATE TABLE bookmarks (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    UNIQUE (account_id, status_id)
  )`,
  `CREATE INDEX bookmarks_account ON bookmarks (account_id, id)`,
  `CREATE TABLE status_pins (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    id bigint NOT NULL,
    PRIMARY KEY (account_id, status_id)
  )`,
  `CREATE TABLE conversation_mutes (
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id bigint NOT NULL,
    PRIMARY KEY (account_id, conversation_id)
  )`,
  // One row per owner, conversation and set of participants, as clients show direct messages.
  `CREATE TABLE account_conversations (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id bigint NOT NULL,
    participant_ids bigint[] NOT NULL,
    status_ids bigint[] NOT NULL,
    last_status_id bigint NOT NULL,
    unread boolean NOT NULL DEFAULT false,
    UNIQUE (account_id, conversation_id, participant_ids)
  )`,
  `CREATE INDEX account_conversations_last ON account_conversations (account_id, last_status_id DESC)`,
  `CREATE TABLE scheduled_statuses (
    id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    scheduled_at timestamptz NOT NULL,
    params jsonb NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX scheduled_statuses_account ON scheduled_statuses (account_id, id)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
