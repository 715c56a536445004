import { Effect } from "effect"
import { parse } from "../../identity/EmailAddresses.ts"
import { type SettingChanges, settingRowsOf } from "../../instance/SettingValues.ts"
import { decodeTimelineReaders } from "../../instance/TimelinesAccess.ts"
import { parseScalar } from "../RailsYaml.ts"
import type { Step, TextRow } from "../Step.ts"
import type { Rendered } from "./DocumentRenderer.ts"

/** Maximum characters of a value that is read; the largest are documents. */
const valueCharactersMax = 500_000

const modes = new Map([["open", "open"], ["approved", "approval"], ["none", "closed"]])

/** Returns one of Mastodon's settings as a change of this server's; no change for an invalid value. */
const changeOf = (name: string, text: string, value: unknown): SettingChanges => {
  switch (name) {
    case "site_title":
      return { title: text }
    case "site_short_description":
      return { description: text }
    case "site_extended_description":
      return { extendedDescription: text }
    case "site_contact_email":
      return text !== "" && parse(text) === undefined ? {} : { contactEmail: text }
    case "site_contact_username":
      return { contactAccount: text.trim().replace(/^@/, "") }
    case "registrations_mode":
      return { registrations: modes.get(text) ?? text }
    case "closed_registrations_message":
      return { registrationsMessage: text }
    case "require_invite_text":
      return { reasonRequired: value === true }
    case "min_age":
      return /^\d{0,3}$/.test(text) ? { minAge: Number(text) } : {}
    default:
      return {}
  }
}

const names = [
  "site_title",
  "site_short_description",
  "site_extended_description",
  "site_contact_email",
  "site_contact_username",
  "registrations_mode",
  "closed_registrations_message",
  "require_invite_text",
  "min_age"
] as const
const documentNames = new Set<string>(["site_extended_description", "closed_registrations_message"])
const quoted = (all: ReadonlyArray<string>) => all.map((name) => `'${name}'`).join(", ")

/** Feeds whose readers staff choose, by Mastodon's name. */
const feeds = {
  "local_live_feed_access": ["liveFeeds", "local"],
  "remote_live_feed_access": ["liveFeeds", "remote"],
  "local_topic_feed_access": ["hashtagFeeds", "local"],
  "remote_topic_feed_access": ["hashtagFeeds", "remote"]
} as const
type Feed = keyof typeof feeds
const accessOf = (feed: Feed) => {
  const [kind, origin] = feeds[feed]
  return `'${origin}', coalesce(max(s.word) FILTER (WHERE s.var = '${feed}'), o.value #>> '{${kind},${origin}}', 'public')`
}

/** Reads a stored value; undefined if it is no scalar. */
const valueOf = (row: TextRow) => {
  const { value } = row
  if (value === null || value === undefined) return null
  return value.length > valueCharactersMax ? undefined : parseScalar(value)
}

const common = { table: "settings", columns: "var value updated_at:timestamptz", changes: true } as const

/** Settings of the server, and its privacy policy. */
export const make = (rendered: Rendered): ReadonlyArray<Step> => {
  const prepared = Effect.fnUntraced(function*(row: TextRow) {
    const value = valueOf(row)
    const [name, given] = [row["var"] ?? "", value === null || value === undefined ? "" : String(value)]
    const text = documentNames.has(name) ? yield* rendered(given) : given
    if (value === undefined || text === null) return { ...row, stored: null }
    const rows = yield* Effect.orElseSucceed(settingRowsOf(changeOf(name, text, value)), () => [])
    const [stored, setting] = rows[0] ?? []
    const copied: TextRow = {
      ...row,
      stored: stored ?? null,
      setting: setting === undefined ? null : JSON.stringify(setting)
    }
    return copied
  })
  const policy = Effect.fnUntraced(function*(row: TextRow) {
    const value = valueOf(row)
    return { ...row, html: typeof value === "string" ? yield* rendered(value) : null }
  })
  const access = (row: TextRow): TextRow => ({ ...row, word: decodeTimelineReaders(valueOf(row)) ?? null })
  return [
    {
      ...common,
      name: "settings",
      where: `t.var IN (${quoted(names)})`,
      prepared: "stored setting",
      prepare: (rows) => Effect.forEach(rows, prepared),
      rejects: [
        ["stored IS NULL", "the value of the setting is not valid here"],
        [
          `stored = 'contact_account' AND NOT EXISTS (SELECT FROM users u JOIN accounts a ON a.id = u.account_id
            WHERE lower(a.username) = lower(setting::jsonb #>> '{}'))`,
          "the contact account was not copied"
        ]
      ],
      // An empty value is the default.
      write: [
        `DELETE FROM settings x USING staged s WHERE x.name = s.stored AND s.setting IS NULL`,
        `INSERT INTO settings (name, value, updated_at) SELECT stored, setting::jsonb, updated_at FROM staged WHERE setting IS NOT NULL
          ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
      ]
    },
    {
      ...common,
      name: "access to timelines",
      where: `t.var IN (${quoted(Object.keys(feeds))})`,
      prepared: "word",
      prepare: (rows) => Effect.succeed(rows.map(access)),
      rejects: [["word IS NULL", "the value of the setting is not valid here"]],
      write: [`INSERT INTO settings (name, value, updated_at)
        SELECT 'timelines_access', jsonb_build_object(
          'liveFeeds', jsonb_build_object(${accessOf("local_live_feed_access")}, ${
        accessOf("remote_live_feed_access")
      }),
          'hashtagFeeds', jsonb_build_object(${accessOf("local_topic_feed_access")}, ${
        accessOf("remote_topic_feed_access")
      })), max(s.updated_at)
        FROM staged s LEFT JOIN settings o ON o.name = 'timelines_access' GROUP BY o.value
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`]
    },
    {
      ...common,
      name: "privacy policy",
      where: "t.var = 'site_terms'",
      prepared: "html",
      prepare: (rows) => Effect.forEach(rows, policy),
      rejects: [["html IS NULL", "the privacy policy is too long, or no text"]],
      write: [`INSERT INTO document_versions (id, kind, html, effective_on, published_at)
        SELECT transfer_key, 'privacy_policy', html, to_char(updated_at, 'YYYY-MM-DD'), updated_at FROM staged WHERE html <> ''
        ON CONFLICT (kind, effective_on) DO UPDATE SET html = excluded.html, published_at = excluded.published_at`]
    }
  ]
}
