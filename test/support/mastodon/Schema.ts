/** Versions of Mastodon whose databases tests create. */
export type Version = "4.3" | "4.5" | "4.7"

const times =
  "created_at timestamp(6) NOT NULL DEFAULT '2024-01-01', updated_at timestamp(6) NOT NULL DEFAULT '2024-01-01'"

/** Columns that the copy reads, by table. `[4.5]` starts the columns of later versions. */
const tables: Readonly<Record<string, string>> = {
  accounts:
    `id bigint PRIMARY KEY, username text NOT NULL DEFAULT '', domain text, private_key text, public_key text NOT NULL DEFAULT '',
    ${times}, note text NOT NULL DEFAULT '', display_name text NOT NULL DEFAULT '', uri text NOT NULL DEFAULT '', url text,
    locked boolean NOT NULL DEFAULT false, actor_type text, discoverable boolean, indexable boolean NOT NULL DEFAULT false,
    hide_collections boolean, fields jsonb, also_known_as varchar[], avatar_remote_url text, header_remote_url text NOT NULL DEFAULT '',
    memorial boolean NOT NULL DEFAULT false, avatar_file_name text, header_file_name text, silenced_at timestamp(6), suspended_at timestamp(6), sensitized_at timestamp(6),
    suspension_origin integer, trendable boolean, reviewed_at timestamp(6), requested_review_at timestamp(6),
    inbox_url text NOT NULL DEFAULT '', outbox_url text NOT NULL DEFAULT '', shared_inbox_url text NOT NULL DEFAULT '',
    followers_url text NOT NULL DEFAULT '', following_url text, featured_collection_url text, last_webfingered_at timestamp(6),
    attribution_domains varchar[] DEFAULT '{}', moved_to_account_id bigint
    [4.5], id_scheme integer DEFAULT 1
    [4.7], avatar_description text DEFAULT '', header_description text DEFAULT '', show_media boolean DEFAULT true,
    show_media_replies boolean DEFAULT true, show_featured boolean DEFAULT true`,
  "account_stats":
    `id bigserial PRIMARY KEY, account_id bigint, followers_count bigint DEFAULT 0, following_count bigint DEFAULT 0,
    statuses_count bigint DEFAULT 0, last_status_at timestamp(6), ${times}`,
  keypairs:
    `[4.7]id bigserial PRIMARY KEY, account_id bigint, local_fragment text, uri text, type integer DEFAULT 0, public_key text,
    private_key text, expires_at timestamp(6), revoked boolean DEFAULT false, ${times}`,
  "user_roles":
    `id bigint PRIMARY KEY, name text, color text, position integer, permissions bigint, highlighted boolean, ${times}
    [4.7], require_2fa boolean DEFAULT false, collection_limit integer`,
  users:
    `id bigint PRIMARY KEY, account_id bigint, email text NOT NULL DEFAULT '', encrypted_password text NOT NULL DEFAULT '', role_id bigint,
    locale text, time_zone text, approved boolean NOT NULL DEFAULT true, disabled boolean NOT NULL DEFAULT false, confirmed_at timestamp(6),
    ${times}, settings text, chosen_languages varchar[], current_sign_in_at timestamp(6), last_sign_in_at timestamp(6), otp_secret text,
    otp_required_for_login boolean NOT NULL DEFAULT false, consumed_timestep integer, unconfirmed_email text
    [4.5], age_verified_at timestamp(6)`,
  "webauthn_credentials":
    `id bigserial PRIMARY KEY, external_id text, public_key text, sign_count bigint, nickname text, user_id bigint, ${times}`,
  "oauth_applications":
    `id bigint PRIMARY KEY, name text, uid text, secret text, redirect_uri text, scopes text, website text,
    superapp boolean DEFAULT false, confidential boolean DEFAULT true, ${times}`,
  "oauth_access_tokens":
    `id bigint PRIMARY KEY, token text, application_id bigint, scopes text, resource_owner_id bigint, expires_in integer,
    revoked_at timestamp(6), last_used_at timestamp(6), last_used_ip inet, ${times}`,
  markers:
    `id bigserial PRIMARY KEY, user_id bigint, timeline text, last_read_id bigint, lock_version integer DEFAULT 0, ${times}`,
  tags:
    `id bigint PRIMARY KEY, name text, display_name text, listable boolean, usable boolean, trendable boolean, last_status_at timestamp(6),
    reviewed_at timestamp(6), requested_review_at timestamp(6), ${times}`,
  conversations: `id bigint PRIMARY KEY, uri text, ${times} [4.5], parent_account_id bigint, parent_status_id bigint`,
  statuses:
    `id bigint PRIMARY KEY, uri text, text text NOT NULL DEFAULT '', ${times}, in_reply_to_id bigint, reblog_of_id bigint, url text,
    sensitive boolean NOT NULL DEFAULT false, visibility integer NOT NULL DEFAULT 0, spoiler_text text NOT NULL DEFAULT '', language text,
    conversation_id bigint, local boolean, account_id bigint NOT NULL, application_id bigint, in_reply_to_account_id bigint, poll_id bigint,
    deleted_at timestamp(6), edited_at timestamp(6), ordered_media_attachment_ids bigint[] [4.5], quote_approval_policy integer NOT NULL DEFAULT 0`,
  "media_attachments":
    `id bigint PRIMARY KEY, account_id bigint, status_id bigint, type integer DEFAULT 0, description text, blurhash text,
    file_file_name text, file_meta json, thumbnail_file_name text, scheduled_status_id bigint,
    remote_url text NOT NULL DEFAULT '', ${times}`,
  mentions: `id bigserial PRIMARY KEY, status_id bigint, account_id bigint, silent boolean DEFAULT false, ${times}`,
  "statuses_tags": "status_id bigint, tag_id bigint",
  polls:
    `id bigint PRIMARY KEY, account_id bigint, status_id bigint, expires_at timestamp(6), options varchar[], cached_tallies bigint[],
    multiple boolean DEFAULT false, hide_totals boolean DEFAULT false, voters_count bigint, ${times}`,
  "poll_votes": `id bigserial PRIMARY KEY, account_id bigint, poll_id bigint, choice integer, uri text, ${times}`,
  follows:
    `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, show_reblogs boolean DEFAULT true, notify boolean DEFAULT false,
    languages varchar[], uri text, ${times}`,
  "follow_requests":
    `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, show_reblogs boolean DEFAULT true,
    notify boolean DEFAULT false, languages varchar[], uri text, ${times}`,
  blocks: `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, uri text, ${times}`,
  mutes:
    `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, hide_notifications boolean DEFAULT true, expires_at timestamp(6), ${times}`,
  "account_domain_blocks": `id bigint PRIMARY KEY, account_id bigint, domain text, ${times}`,
  favourites: `id bigint PRIMARY KEY, account_id bigint, status_id bigint, ${times}`,
  bookmarks: `id bigint PRIMARY KEY, account_id bigint, status_id bigint, ${times}`,
  "status_pins": `id bigint PRIMARY KEY, account_id bigint, status_id bigint, ${times}`,
  lists:
    `id bigint PRIMARY KEY, account_id bigint, title text, replies_policy integer DEFAULT 0, exclusive boolean DEFAULT false, ${times}`,
  "list_accounts": "id bigint PRIMARY KEY, list_id bigint, account_id bigint, follow_id bigint",
  "account_notes": `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, comment text, ${times}`,
  "account_pins": `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, ${times}`,
  "tag_follows": `id bigint PRIMARY KEY, account_id bigint, tag_id bigint, ${times}`,
  "custom_filters":
    `id bigint PRIMARY KEY, account_id bigint, phrase text, context varchar[], action integer DEFAULT 0, expires_at timestamp(6), ${times}`,
  "custom_filter_keywords":
    `id bigint PRIMARY KEY, custom_filter_id bigint, keyword text, whole_word boolean DEFAULT true, ${times}`,
  "custom_filter_statuses": `id bigint PRIMARY KEY, custom_filter_id bigint, status_id bigint, ${times}`,
  "domain_blocks": `id bigint PRIMARY KEY, domain text, severity integer DEFAULT 0, reject_media boolean DEFAULT false,
    reject_reports boolean DEFAULT false, private_comment text, public_comment text, obfuscate boolean DEFAULT false, ${times}`,
  "domain_allows": `id bigint PRIMARY KEY, domain text, ${times}`,
  "email_domain_blocks": `id bigint PRIMARY KEY, domain text, allow_with_approval boolean DEFAULT false, ${times}`,
  "ip_blocks":
    `id bigint PRIMARY KEY, ip inet, severity integer, comment text DEFAULT '', expires_at timestamp(6), ${times}`,
  "preview_cards":
    `id bigint PRIMARY KEY, url text NOT NULL DEFAULT '', title text NOT NULL DEFAULT '', description text NOT NULL DEFAULT '',
    type integer NOT NULL DEFAULT 0, html text NOT NULL DEFAULT '', author_name text NOT NULL DEFAULT '', author_url text NOT NULL DEFAULT '',
    provider_name text NOT NULL DEFAULT '', provider_url text NOT NULL DEFAULT '', width integer NOT NULL DEFAULT 0,
    height integer NOT NULL DEFAULT 0, embed_url text NOT NULL DEFAULT '', language text, image_description text NOT NULL DEFAULT '',
    published_at timestamp(6), trendable boolean, author_account_id bigint, ${times}`,
  "preview_card_providers":
    `id bigint PRIMARY KEY, domain text NOT NULL DEFAULT '', trendable boolean, reviewed_at timestamp(6), requested_review_at timestamp(6), ${times}`,
  "preview_cards_statuses":
    "preview_card_id bigint, status_id bigint, url text, PRIMARY KEY (status_id, preview_card_id)",
  quotes:
    `[4.5]id bigint PRIMARY KEY, account_id bigint, status_id bigint, quoted_status_id bigint, quoted_account_id bigint,
    state integer DEFAULT 0, approval_uri text, activity_uri text, legacy boolean DEFAULT false, ${times}`,
  "status_edits":
    `id bigserial PRIMARY KEY, status_id bigint, account_id bigint, text text DEFAULT '', spoiler_text text DEFAULT '', sensitive boolean,
    ordered_media_attachment_ids bigint[], media_descriptions text[], poll_options varchar[], ${times}`,
  tombstones: `id bigserial PRIMARY KEY, account_id bigint, uri text NOT NULL, by_moderator boolean, ${times}`,
  "custom_emoji_categories": `id bigint PRIMARY KEY, name text, ${times}`,
  "custom_emojis":
    `id bigint PRIMARY KEY, shortcode text NOT NULL DEFAULT '', domain text, image_file_name text, image_remote_url text, uri text,
    disabled boolean NOT NULL DEFAULT false, visible_in_picker boolean NOT NULL DEFAULT true, category_id bigint, ${times}`,
  "featured_tags":
    `id bigint PRIMARY KEY, account_id bigint, tag_id bigint, name text, statuses_count bigint DEFAULT 0, ${times}`,
  "scheduled_statuses": "id bigint PRIMARY KEY, account_id bigint, scheduled_at timestamp(6), params jsonb",
  reports:
    `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, status_ids bigint[] NOT NULL DEFAULT '{}',
    comment text NOT NULL DEFAULT '', category integer NOT NULL DEFAULT 0, forwarded boolean, uri text, rule_ids bigint[],
    action_taken_at timestamp(6), action_taken_by_account_id bigint, assigned_account_id bigint, ${times}`,
  settings: `id bigserial PRIMARY KEY, var text, value text, ${times}`,
  rules:
    `id bigint PRIMARY KEY, priority integer NOT NULL DEFAULT 0, deleted_at timestamp(6), text text NOT NULL DEFAULT '',
    hint text NOT NULL DEFAULT '', ${times}`,
  "rule_translations":
    `[4.5]id bigserial PRIMARY KEY, rule_id bigint, language text, text text DEFAULT '', hint text DEFAULT '', ${times}`,
  announcements:
    `id bigint PRIMARY KEY, text text NOT NULL DEFAULT '', published boolean NOT NULL DEFAULT false, all_day boolean DEFAULT false,
    scheduled_at timestamp(6), starts_at timestamp(6), ends_at timestamp(6), published_at timestamp(6), status_ids bigint[], ${times}`,
  "announcement_reactions":
    `id bigserial PRIMARY KEY, account_id bigint, announcement_id bigint, name text NOT NULL DEFAULT '', custom_emoji_id bigint, ${times}`,
  "announcement_mutes": `id bigserial PRIMARY KEY, account_id bigint, announcement_id bigint, ${times}`,
  invites:
    `id bigint PRIMARY KEY, user_id bigint, code text, expires_at timestamp(6), max_uses integer, uses integer DEFAULT 0,
    autofollow boolean DEFAULT false, comment text, ${times}`,
  relays:
    `id bigint PRIMARY KEY, inbox_url text DEFAULT '', follow_activity_id text, state integer DEFAULT 0, ${times}`,
  "terms_of_services":
    `[4.5]id bigint PRIMARY KEY, text text DEFAULT '', changelog text DEFAULT '', effective_date date,
    published_at timestamp(6), notification_sent_at timestamp(6), ${times}`,
  webhooks:
    `id bigint PRIMARY KEY, url text, events varchar[] DEFAULT '{}', secret text DEFAULT '', enabled boolean DEFAULT true,
    template text, ${times}`,
  "canonical_email_blocks":
    `id bigint PRIMARY KEY, canonical_email_hash text DEFAULT '', reference_account_id bigint, ${times}`,
  "username_blocks": `[4.5]id bigint PRIMARY KEY, username text, normalized_username text, exact boolean DEFAULT false,
    allow_with_approval boolean DEFAULT false, ${times}`,
  "report_notes": `id bigint PRIMARY KEY, content text, report_id bigint, account_id bigint, ${times}`,
  "account_moderation_notes":
    `id bigint PRIMARY KEY, content text, account_id bigint, target_account_id bigint, ${times}`,
  "instance_moderation_notes": `[4.5]id bigint PRIMARY KEY, domain text, account_id bigint, content text, ${times}`,
  "account_warnings":
    `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, action integer DEFAULT 0, text text DEFAULT '',
    report_id bigint, status_ids varchar[], overruled_at timestamp(6), ${times}`,
  appeals:
    `id bigint PRIMARY KEY, account_id bigint, account_warning_id bigint, text text DEFAULT '', approved_at timestamp(6),
    approved_by_account_id bigint, rejected_at timestamp(6), rejected_by_account_id bigint, ${times}`,
  notifications:
    `id bigint PRIMARY KEY, account_id bigint, from_account_id bigint, activity_id bigint, activity_type text, type text,
    filtered boolean NOT NULL DEFAULT false, group_key text, ${times}`,
  "notification_policies":
    `id bigserial PRIMARY KEY, account_id bigint, for_not_following integer DEFAULT 0, for_not_followers integer DEFAULT 0,
    for_new_accounts integer DEFAULT 0, for_private_mentions integer DEFAULT 1, for_limited_accounts integer DEFAULT 1, ${times} [4.7], for_bots integer DEFAULT 0`,
  "notification_permissions": `id bigserial PRIMARY KEY, account_id bigint, from_account_id bigint, ${times}`,
  "notification_requests":
    `id bigint PRIMARY KEY, account_id bigint, from_account_id bigint, last_status_id bigint, ${times}`,
  "web_push_subscriptions":
    `id bigint PRIMARY KEY, endpoint text, key_p256dh text, key_auth text, data json, access_token_id bigint,
    user_id bigint, standard boolean NOT NULL DEFAULT false, ${times}`,
  "account_conversations":
    `id bigint PRIMARY KEY, account_id bigint, conversation_id bigint, participant_account_ids bigint[] NOT NULL DEFAULT '{}',
    status_ids bigint[] NOT NULL DEFAULT '{}', last_status_id bigint, unread boolean NOT NULL DEFAULT false, lock_version integer DEFAULT 0`,
  "account_statuses_cleanup_policies":
    `id bigserial PRIMARY KEY, account_id bigint, enabled boolean DEFAULT true, min_status_age integer DEFAULT 1209600,
    keep_direct boolean DEFAULT true, keep_pinned boolean DEFAULT true, keep_polls boolean DEFAULT false, keep_media boolean DEFAULT false,
    keep_self_fav boolean DEFAULT true, keep_self_bookmark boolean DEFAULT true, min_favs integer, min_reblogs integer, ${times}`,
  "user_invite_requests": `id bigserial PRIMARY KEY, user_id bigint, text text, ${times}`,
  "follow_recommendation_mutes": `id bigint PRIMARY KEY, account_id bigint, target_account_id bigint, ${times}`,
  "account_warning_presets": `id bigint PRIMARY KEY, title text DEFAULT '', text text DEFAULT '', ${times}`,
  "conversation_mutes": "id bigint PRIMARY KEY, account_id bigint, conversation_id bigint"
}

/** Returns the statements that create the tables of a version. */
export const schema = (version: Version): ReadonlyArray<string> =>
  Object.entries(tables).flatMap(([name, text]) => {
    const [first = "", ...later] = text.split(/\[(4\.\d)\]/)
    const columns = [
      first,
      ...later.flatMap((part, at) => at % 2 === 1 && (later[at - 1] ?? "") <= version ? [part] : [])
    ]
      .join("")
    return columns.trim() === "" ? [] : [`CREATE TABLE ${name} (${columns})`]
  })
