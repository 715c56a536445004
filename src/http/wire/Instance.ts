import { Schema } from "effect"
import { Account } from "./Account.ts"
import { Count, Day, Figure, Html, Id, Timestamp, Url } from "./Common.ts"

export const Rule = Schema.Struct({
  id: Id,
  text: Schema.String,
  hint: Schema.String,
  translations: Schema.Record(Schema.String, Schema.Struct({ text: Schema.String, hint: Schema.String }))
}).annotate({ identifier: "Rule" })
export type Rule = typeof Rule.Type

/** A text about the server: the extended description, or the privacy policy. */
export const Document = Schema.Struct({ updated_at: Schema.NullOr(Timestamp), content: Html })
  .annotate({ identifier: "InstanceDocument" })
export type Document = typeof Document.Type

export const TermsOfService = Schema.Struct({
  effective_date: Day,
  effective: Schema.Boolean,
  content: Html,
  succeeded_by: Schema.NullOr(Day)
}).annotate({ identifier: "TermsOfService" })
export type TermsOfService = typeof TermsOfService.Type

/** Activity of a week; the numbers are sent as strings (S-126). */
export const Activity = Schema.Struct({ week: Figure, statuses: Figure, logins: Figure, registrations: Figure })
  .annotate({ identifier: "InstanceActivity" })
export type Activity = typeof Activity.Type

/** A published domain block; the domain may be obfuscated. */
export const DomainBlock = Schema.Struct({
  domain: Schema.String,
  digest: Schema.String,
  severity: Schema.Literals(["silence", "suspend"]),
  comment: Schema.optionalKey(Schema.NullOr(Schema.String))
}).annotate({ identifier: "DomainBlock" })
export type DomainBlock = typeof DomainBlock.Type

export const Language = Schema.Struct({ code: Schema.String, name: Schema.String }).annotate({ identifier: "Language" })
export type Language = typeof Language.Type

const access = Schema.Literals(["public", "authenticated", "disabled"])
/** Access to local and remote posts on public timelines. */
export const Feeds = Schema.Struct({ local: access, remote: access })

const statuses = Schema.Struct({
  max_characters: Count,
  max_media_attachments: Count,
  characters_reserved_per_url: Count
})
const mediaAttachments = {
  supported_mime_types: Schema.Array(Schema.String),
  image_size_limit: Count,
  image_matrix_limit: Count,
  video_size_limit: Count,
  video_frame_rate_limit: Count,
  video_matrix_limit: Count
}
const polls = Schema.Struct({
  max_options: Count,
  max_characters_per_option: Count,
  min_expiration: Count,
  max_expiration: Count
})

export const Instance = Schema.Struct({
  domain: Schema.String,
  title: Schema.String,
  version: Schema.String,
  /** Empty if the operator does not state where the source is. */
  source_url: Schema.String,
  description: Schema.String,
  usage: Schema.Struct({ users: Schema.Struct({ active_month: Count }) }),
  thumbnail: Schema.Struct({
    url: Url,
    blurhash: Schema.NullOr(Schema.String),
    versions: Schema.Struct({ "@1x": Url, "@2x": Url }),
    description: Schema.String
  }),
  icon: Schema.Array(Schema.Struct({ src: Url, size: Schema.String })),
  languages: Schema.Array(Schema.String),
  configuration: Schema.Struct({
    urls: Schema.Struct({
      streaming: Url,
      status: Schema.NullOr(Url),
      about: Url,
      privacy_policy: Url,
      terms_of_service: Schema.NullOr(Url)
    }),
    vapid: Schema.Struct({ public_key: Schema.String }),
    accounts: Schema.Struct({
      max_featured_tags: Count,
      max_pinned_statuses: Count,
      max_profile_fields: Count,
      profile_field_name_limit: Count,
      profile_field_value_limit: Count,
      max_display_name_length: Count,
      max_note_length: Count,
      max_avatar_description_length: Count,
      max_header_description_length: Count
    }),
    statuses: Schema.Struct({
      ...statuses.fields,
      /** Beyond Mastodon: accepted values of `content_type` for a new post. */
      supported_mime_types: Schema.Array(Schema.String),
      /** Beyond Mastodon: posts may be local-only (`local_only`, or the visibility `local`). */
      local_only: Schema.Boolean
    }),
    media_attachments: Schema.Struct({ description_limit: Count, ...mediaAttachments }),
    polls,
    /**
     * Beyond Mastodon: lists may contain hashtags (`/api/v1/lists/:id/tags`), and accounts that the owner does not
     * follow.
     */
    lists: Schema.Struct({ max_lists: Count, max_accounts_per_list: Count, max_tags_per_list: Count }),
    /**
     * Beyond Mastodon: `interaction_policy` of posts, in which a list may have this many account ids;
     * `/api/v1/interaction_policies/defaults` and `/api/v1/interaction_requests`.
     */
    interaction_policies: Schema.Struct({ max_accounts: Count }),
    /** Beyond Mastodon: `/api/v1/drafts`, drafts on every device. */
    drafts: Schema.Struct({ max_drafts: Count }),
    /** Beyond Mastodon: `/api/v1/timelines/catchup`, posts missed in the home timeline since a time. */
    catchup: Schema.Struct({ max_statuses: Count, max_hours: Count }),
    /**
     * Beyond Mastodon: `/api/v1/strikes`, moderation actions against the user, and appeals. Staff decides appeals by
     * `/api/v1/admin/appeals`, acts on posts by `/api/v1/admin/status_actions`, and writes `notes` on accounts and
     * reports.
     */
    appeals: Schema.Struct({ max_days: Count, max_characters: Count }),
    /**
     * Beyond Mastodon, each off unless an app requests it: parameters of `/api/v1/timelines/home`, stream events for
     * clients that list them in `supported_events[]`, keys of `/api/v2/notifications/policy`, and parameters of
     * `/api/v1/accounts/:id/mute`.
     */
    extensions: Schema.Struct({
      home_parameters: Schema.Array(Schema.String),
      stream_events: Schema.Array(Schema.String),
      notification_policies: Schema.Array(Schema.String),
      mute_parameters: Schema.Array(Schema.String)
    }),
    translation: Schema.Struct({ enabled: Schema.Boolean }),
    timelines_access: Schema.Struct({ live_feeds: Feeds, hashtag_feeds: Feeds, trending_link_feeds: Feeds }),
    limited_federation: Schema.Boolean
  }),
  registrations: Schema.Struct({
    enabled: Schema.Boolean,
    approval_required: Schema.Boolean,
    reason_required: Schema.NullOr(Schema.Boolean),
    message: Schema.NullOr(Html),
    min_age: Schema.NullOr(Count),
    url: Schema.NullOr(Url)
  }),
  api_versions: Schema.Struct({ mastodon: Count }),
  /** Beyond Mastodon: features that apps know from Pleroma, which work the same here. */
  pleroma: Schema.Struct({
    metadata: Schema.Struct({
      features: Schema.Array(Schema.String),
      /** Maximum different emoji in the reactions to a status, and of one account to it. */
      emoji_reactions: Schema.Struct({ max_reactions: Count, max_reactions_per_account: Count })
    })
  }),
  wrapstodon: Schema.NullOr(Count),
  contact: Schema.Struct({ email: Schema.String, account: Schema.NullOr(Account) }),
  rules: Schema.Array(Rule)
}).annotate({ identifier: "Instance" })
export type Instance = typeof Instance.Type

export const InstanceV1 = Schema.Struct({
  uri: Schema.String,
  title: Schema.String,
  short_description: Schema.String,
  description: Html,
  email: Schema.String,
  version: Schema.String,
  urls: Schema.Struct({ streaming_api: Url }),
  stats: Schema.Struct({ user_count: Count, status_count: Count, domain_count: Count }),
  thumbnail: Url,
  languages: Schema.Array(Schema.String),
  registrations: Schema.Boolean,
  approval_required: Schema.Boolean,
  invites_enabled: Schema.Boolean,
  configuration: Schema.Struct({
    accounts: Schema.Struct({ max_featured_tags: Count }),
    statuses,
    media_attachments: Schema.Struct(mediaAttachments),
    polls
  }),
  contact_account: Schema.NullOr(Account),
  rules: Schema.Array(Rule)
}).annotate({ identifier: "V1Instance" })
export type InstanceV1 = typeof InstanceV1.Type
