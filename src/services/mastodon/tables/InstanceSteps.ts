import { Effect, Redacted, Schema } from "effect"
import { announcementsMax } from "../../announcements/Announcement.ts"
import { relaysMax } from "../../federation/relays/Relays.ts"
import { rulesMax } from "../../instance/InstanceRules.ts"
import { secretCipher } from "../../secrets/Seals.ts"
import { WebhookEvent } from "../../webhooks/Webhook.ts"
import { webhooksMax } from "../../webhooks/Webhooks.ts"
import { nowMark, type Step, type TextRow } from "../Step.ts"
import { beyond, lacksAccount, lacksUser, listOf } from "./ColumnSql.ts"
import { documents, type Rendered } from "./DocumentRenderer.ts"
import * as SettingSteps from "./SettingSteps.ts"

const missing = (table: string, column: string, name: string) =>
  [`NOT EXISTS (SELECT FROM ${table} x WHERE x.id = staged.${column})`, `the ${name} was not copied`] as const

const rules: Step = {
  name: "rules",
  table: "rules",
  columns: "id:bigint priority:int text hint deleted_at:timestamptz created_at:timestamptz updated_at:timestamptz",
  rejects: [
    ["coalesce(text, '') = ''", "the rule is empty"],
    beyond("rules", rulesMax, "rules", "x.deleted_at IS NULL")
  ],
  write: [`INSERT INTO rules (id, priority, text, hint, deleted_at)
    SELECT id, coalesce(priority, 0), left(text, 300), left(coalesce(hint, ''), 1000), deleted_at FROM staged
    ON CONFLICT (id) DO UPDATE SET priority = excluded.priority, text = excluded.text, hint = excluded.hint, deleted_at = excluded.deleted_at`],
  changes: true
}

const ruleTranslations: Step = {
  name: "translations of rules",
  table: "rule_translations",
  columns: "rule_id:bigint language text hint updated_at:timestamptz",
  rejects: [missing("rules", "rule_id", "rule"), [
    "coalesce(text, '') = '' OR coalesce(language, '') = ''",
    "the translation is empty"
  ]],
  write: [`UPDATE rules r SET translations = r.translations || s.said FROM (
      SELECT rule_id, jsonb_object_agg(language, jsonb_build_object('text', left(text, 300), 'hint', left(coalesce(hint, ''), 1000))) AS said
      FROM staged GROUP BY rule_id) s WHERE r.id = s.rule_id`],
  changes: true
}

const announcements: Step = {
  name: "announcements",
  table: "announcements",
  columns:
    `id:bigint text published:boolean all_day:boolean starts_at:timestamptz ends_at:timestamptz scheduled_at:timestamptz
    published_at:timestamptz created_at:timestamptz updated_at:timestamptz`,
  rejects: [
    [
      "(starts_at IS NULL) <> (ends_at IS NULL)",
      "the announcement has a start without an end, or an end without a start"
    ],
    beyond("announcements", announcementsMax, "announcements")
  ],
  write: [
    `INSERT INTO announcements (id, text, starts_at, ends_at, all_day, scheduled_at, published_at, created_at, updated_at)
    SELECT id, coalesce(text, ''), starts_at, ends_at, coalesce(all_day, false) AND starts_at IS NOT NULL,
      CASE WHEN NOT coalesce(published, false) THEN scheduled_at END, CASE WHEN published THEN coalesce(published_at, created_at) END,
      created_at, updated_at FROM staged
    ON CONFLICT (id) DO UPDATE SET text = excluded.text, starts_at = excluded.starts_at, ends_at = excluded.ends_at,
      all_day = excluded.all_day, scheduled_at = excluded.scheduled_at, published_at = excluded.published_at, updated_at = excluded.updated_at`
  ],
  changes: true,
  ends: "announcements"
}

const announcementReactions: Step = {
  name: "reactions to announcements",
  table: "announcement_reactions",
  columns: "account_id:bigint announcement_id:bigint name custom_emoji_id:bigint created_at:timestamptz",
  rejects: [
    lacksAccount("account_id"),
    missing("announcements", "announcement_id", "announcement"),
    [
      "custom_emoji_id IS NOT NULL AND NOT EXISTS (SELECT FROM custom_emojis e WHERE e.id = staged.custom_emoji_id)",
      "the emoji was not copied"
    ],
    ["coalesce(name, '') = ''", "the reaction is empty"]
  ],
  write: [`INSERT INTO announcement_reactions (announcement_id, name, account_id, custom_emoji_id, created_at)
    SELECT announcement_id, name, account_id, custom_emoji_id, created_at FROM staged ON CONFLICT DO NOTHING`],
  renews: "announcement_reactions"
}

const announcementReads: Step = {
  name: "read announcements",
  table: "announcement_mutes",
  columns: "account_id:bigint announcement_id:bigint",
  rejects: [lacksAccount("account_id"), missing("announcements", "announcement_id", "announcement")],
  write: [
    `INSERT INTO announcement_dismissals (account_id, announcement_id) SELECT account_id, announcement_id FROM staged
    ON CONFLICT DO NOTHING`
  ]
}

/** Invites that are still valid. Mastodon does not say when one was used, so a delta brings all of them again. */
const invites: Step = {
  name: "invites",
  table: "invites",
  joins: "JOIN users u ON u.id = t.user_id",
  where:
    `(t.expires_at IS NULL OR t.expires_at > '${nowMark}'::timestamp) AND (t.max_uses IS NULL OR t.uses < t.max_uses)`,
  columns: "id:bigint code max_uses:int uses:int expires_at:timestamptz autofollow:boolean created_at:timestamptz",
  computed: [["account_id:bigint", "u.account_id"]],
  rejects: [lacksUser("account_id"), ["coalesce(code, '') = ''", "the invite has no code"]],
  write: [`INSERT INTO invites (id, code, account_id, max_uses, uses, expires_at, autofollow, created_at)
    SELECT id, code, account_id, max_uses, coalesce(uses, 0), expires_at, coalesce(autofollow, false), created_at FROM staged
    ON CONFLICT DO NOTHING`],
  renews: "invites"
}

const relays: Step = {
  name: "relays",
  table: "relays",
  columns: "id:bigint inbox_url follow_activity_id state:int created_at:timestamptz updated_at:timestamptz",
  rejects: [
    ["inbox_url !~ '^https?://' OR inbox_url IS NULL", "the inbox of the relay is no URL"],
    ["coalesce(state, 0) NOT BETWEEN 0 AND 3", "the state of the relay is unknown"],
    beyond("relays", relaysMax, "relays")
  ],
  write: [`INSERT INTO relays (id, kind, inbox_url, inbox_id, state, follow_uri, created_at)
    SELECT id, 'mastodon', inbox_url, inbox_number(inbox_url), (ARRAY['idle', 'pending', 'accepted', 'rejected'])[coalesce(state, 0) + 1],
      nullif(follow_activity_id, ''), created_at FROM staged
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, follow_uri = excluded.follow_uri`],
  changes: true,
  ends: "relays"
}

const terms = (rendered: Rendered): Step => ({
  name: "terms of service",
  table: "terms_of_services",
  where: "t.published_at IS NOT NULL",
  columns:
    "id:bigint text changelog effective_date published_at:timestamptz created_at:timestamptz updated_at:timestamptz",
  prepared: "html",
  prepare: (rows) =>
    Effect.forEach(rows, (row) => Effect.map(rendered(row["text"] ?? ""), (html) => ({ ...row, html }))),
  rejects: [["coalesce(html, '') = ''", "the terms are empty or too long"]],
  write: [`INSERT INTO document_versions (id, kind, html, notice, effective_on, published_at)
    SELECT id, 'terms_of_service', html, left(coalesce(changelog, ''), 2000), coalesce(effective_date, to_char(published_at, 'YYYY-MM-DD')),
      published_at FROM staged
    ON CONFLICT (kind, effective_on) DO UPDATE SET html = excluded.html, notice = excluded.notice, published_at = excluded.published_at`],
  changes: true
})

const isEvent = Schema.is(WebhookEvent)
const readEvents = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Schema.String)))

/** Rows by which staff describe and run the server. */
export const make = Effect.gen(function*() {
  const rendered = yield* documents
  const seals = yield* secretCipher("secrets of webhooks")
  const prepared = Effect.fnUntraced(function*(row: TextRow) {
    const given = yield* Effect.orElseSucceed(readEvents(row["events"] ?? "[]"), () => [])
    const secret = yield* seals.encrypt(Redacted.make(row["secret"] ?? ""))
    const copied: TextRow = {
      ...row,
      known: JSON.stringify(given.filter(isEvent)),
      sealed: Buffer.from(secret).toString("hex")
    }
    return copied
  })
  const webhooks: Step = {
    name: "webhooks",
    table: "webhooks",
    columns: "id:bigint url events secret enabled:boolean template created_at:timestamptz updated_at:timestamptz",
    prepared: "known sealed",
    prepare: (rows) => Effect.forEach(rows, prepared),
    rejects: [
      ["url !~ '^https?://' OR url IS NULL", "the address of the webhook is no URL"],
      ["coalesce(secret, '') = ''", "the webhook has no secret"],
      ["known = '[]'", "the webhook has no event that this server knows"],
      beyond("webhooks", webhooksMax, "webhooks")
    ],
    write: [`INSERT INTO webhooks (id, url, events, secret, template, enabled, created_at, updated_at)
      SELECT id, url, ${
      listOf("known", "text")
    }, decode(sealed, 'hex'), coalesce(template, ''), coalesce(enabled, true), created_at, updated_at
      FROM staged ON CONFLICT (id) DO UPDATE SET url = excluded.url, events = excluded.events, secret = excluded.secret,
        template = excluded.template, enabled = excluded.enabled, updated_at = excluded.updated_at`],
    changes: true,
    ends: "webhooks"
  }
  return [
    rules,
    ruleTranslations,
    announcements,
    announcementReactions,
    announcementReads,
    invites,
    relays,
    terms(rendered),
    webhooks,
    ...SettingSteps.make(rendered)
  ] as const
})
