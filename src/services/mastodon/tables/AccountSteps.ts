import { Effect, Schema } from "effect"
import { makeByteLimit } from "../../html/ByteLimit.ts"
import { field, paragraphs } from "../../html/Compose.ts"
import { accountBytesMax } from "../../instance/ContentLimits.ts"
import { suspensionMillis } from "../../moderation/ModerationActions.ts"
import { Drafts } from "../../statuses/Drafts.ts"
import { nowMark, type Step, type TextRow } from "../Step.ts"
import { listOf } from "./ColumnSql.ts"

/** Fields of a profile as Mastodon stores them; anything else is no field. */
const Fields = Schema.fromJsonString(Schema.Array(Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  ["verified_at"]: Schema.optionalKey(Schema.NullOr(Schema.String))
})))
const fieldsOf = (text: string | null | undefined) =>
  Effect.orElseSucceed(Schema.decodeUnknownEffect(Fields)(text ?? "[]"), () => [])

const columns = `id:bigint username domain display_name note uri url locked:boolean actor_type discoverable:boolean
  indexable:boolean hide_collections:boolean fields also_known_as avatar_remote_url header_remote_url memorial:boolean
  silenced_at:timestamptz suspended_at:timestamptz sensitized_at:timestamptz created_at:timestamptz updated_at:timestamptz
  id_scheme:smallint trendable:boolean reviewed_at:timestamptz requested_review_at:timestamptz inbox_url outbox_url
  shared_inbox_url followers_url following_url featured_collection_url avatar_description header_description
  show_media:boolean show_media_replies:boolean show_featured:boolean attribution_domains public_key
  last_webfingered_at:timestamptz suspension_origin:int`

const writeAccounts =
  `INSERT INTO accounts (id, username, domain, uri, url, display_name, note, note_html, fields, locked, bot,
    discoverable, indexable, hide_collections, show_media, show_media_replies, show_featured, avatar_description,
    header_description, attribution_domains, memorial, silenced_at, suspended_at, sensitized_at, created_at, updated_at,
    avatar_remote_url, header_remote_url, also_known_as, trendable, reviewed_at, requested_review_at, id_scheme)
  SELECT id, username, domain, CASE WHEN domain IS NOT NULL THEN uri END, CASE WHEN domain IS NOT NULL THEN coalesce(nullif(url, ''), uri) END,
    coalesce(display_name, ''), CASE WHEN domain IS NULL THEN coalesce(note, '') ELSE '' END, html, shown::jsonb,
    coalesce(locked, false), coalesce(actor_type IN ('Service', 'Application'), false), discoverable, coalesce(indexable, false),
    hide_collections, coalesce(show_media, true), coalesce(show_media_replies, true), coalesce(show_featured, true),
    coalesce(avatar_description, ''), coalesce(header_description, ''), ${listOf("attribution_domains", "text")},
    coalesce(memorial, false), silenced_at, suspended_at, sensitized_at, created_at, updated_at,
    CASE WHEN domain IS NOT NULL THEN nullif(avatar_remote_url, '') END, CASE WHEN domain IS NOT NULL THEN nullif(header_remote_url, '') END,
    CASE WHEN domain IS NULL THEN ${
    listOf("also_known_as", "text")
  } ELSE '{}' END, trendable, reviewed_at, requested_review_at,
    CASE WHEN domain IS NULL THEN coalesce(id_scheme, 0) ELSE 0 END FROM staged
  ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, note = excluded.note, note_html = excluded.note_html,
    fields = excluded.fields, locked = excluded.locked, bot = excluded.bot, discoverable = excluded.discoverable,
    indexable = excluded.indexable, hide_collections = excluded.hide_collections, memorial = excluded.memorial,
    silenced_at = excluded.silenced_at, suspended_at = excluded.suspended_at, sensitized_at = excluded.sensitized_at,
    updated_at = excluded.updated_at, avatar_remote_url = excluded.avatar_remote_url,
    header_remote_url = excluded.header_remote_url, also_known_as = excluded.also_known_as, url = excluded.url,
    show_media = excluded.show_media, show_media_replies = excluded.show_media_replies, show_featured = excluded.show_featured,
    avatar_description = excluded.avatar_description, header_description = excluded.header_description,
    attribution_domains = excluded.attribution_domains, trendable = excluded.trendable, reviewed_at = excluded.reviewed_at,
    requested_review_at = excluded.requested_review_at`

/** Without its row, an account has no actor: it can neither post nor receive. */
const writeActors = `INSERT INTO actors (account_id) SELECT id FROM staged ON CONFLICT DO NOTHING`

/** Days before which data of a suspended account is not deleted, however long ago the suspension began. */
const graceDays = 7
/**
 * Data of suspended accounts is deleted when it would have been at Mastodon, except for suspensions by their own server. A
 * later copy of an account moves or cancels the deletion, because a suspension may have ended or restarted.
 */
const scheduleDeletion = [
  `DELETE FROM agenda USING staged WHERE agenda.kind = 'suspension_end' AND agenda.subject_id = staged.id
    AND staged.suspended_at IS NULL`,
  `INSERT INTO agenda (kind, subject_id, account_id, due_at) SELECT 'suspension_end', id, id,
      greatest(suspended_at + interval '${suspensionMillis} milliseconds', '${nowMark}'::timestamptz + interval '${graceDays} days')
    FROM staged WHERE suspended_at IS NOT NULL AND coalesce(suspension_origin, 0) = 0 ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = excluded.due_at`
]

const writeRemote = [
  `INSERT INTO remote_actors (account_id, type, inbox_url, shared_inbox_url, outbox_url, followers_url, following_url,
      featured_url, also_known_as, suspended_by_origin, fetched_at)
    SELECT id, coalesce(nullif(actor_type, ''), 'Person'), inbox_url, nullif(shared_inbox_url, ''), nullif(outbox_url, ''),
      nullif(followers_url, ''), nullif(following_url, ''), nullif(featured_collection_url, ''),
      ${listOf("also_known_as", "text")}, suspended_at IS NOT NULL AND coalesce(suspension_origin, 0) = 1,
      coalesce(last_webfingered_at, updated_at) FROM staged
    ON CONFLICT (account_id) DO UPDATE SET inbox_url = excluded.inbox_url, shared_inbox_url = excluded.shared_inbox_url,
      suspended_by_origin = excluded.suspended_by_origin, also_known_as = excluded.also_known_as`,
  `INSERT INTO remote_keys (key_id, account_id, public_pem)
    SELECT uri || '#main-key', id, public_key FROM staged WHERE coalesce(public_key, '') <> ''
    ON CONFLICT (key_id, account_id) DO UPDATE SET public_pem = excluded.public_pem`,
  `INSERT INTO account_stats (account_id, stated_followers, stated_following, stated_statuses, last_status_at)
    SELECT id, followers, following, posts, last_status FROM staged
    ON CONFLICT (account_id) DO UPDATE SET stated_followers = excluded.stated_followers,
      stated_following = excluded.stated_following, stated_statuses = excluded.stated_statuses`
]

const counter = (column: string) => `least(2147483647, greatest(0, st.${column}))`

/** Accounts: those of other servers, then the local ones, whose texts mention the others. */
export const make = Effect.gen(function*() {
  const drafts = yield* Drafts

  const shownFields = (
    all: ReadonlyArray<
      { readonly name: string; readonly value: string; readonly html: string; readonly at: string | null }
    >
  ) => JSON.stringify(all.map(({ at, html, name, value }) => ({ name, value, html, verifiedAt: at })))

  const remote = (row: TextRow) =>
    Effect.map(fieldsOf(row["fields"]), (fields): TextRow => {
      const room = makeByteLimit(accountBytesMax)
      const [name, html] = [room.text(row["display_name"] ?? ""), room.html(row["note"] ?? "")]
      const storedFields = fields.map((one) => ({
        name: room.text(one.name),
        value: "",
        html: room.html(one.value),
        at: one["verified_at"] ?? null
      }))
      return { ...row, ["display_name"]: name, html, shown: shownFields(storedFields) }
    })

  const local = Effect.fnUntraced(function*(row: TextRow) {
    const note = row["note"] ?? ""
    const fields = yield* fieldsOf(row["fields"])
    const meaning = yield* drafts.meaning([note, ...fields.map(({ value }) => value)].join("\n"))
    const storedFields = fields.map((one) => ({
      name: one.name,
      value: one.value,
      html: field(one.value, meaning),
      at: one["verified_at"] ?? null
    }))
    const copied: TextRow = { ...row, html: paragraphs(note, meaning), shown: shownFields(storedFields) }
    return copied
  }, Effect.orDie)

  const others: Step = {
    name: "remote accounts",
    table: "accounts",
    joins: "LEFT JOIN account_stats st ON st.account_id = t.id",
    where: "t.domain IS NOT NULL",
    columns,
    computed: [
      ["followers:int", counter("followers_count")],
      ["following:int", counter("following_count")],
      ["posts:int", counter("statuses_count")],
      ["last_status:timestamptz", "st.last_status_at"]
    ],
    prepared: "html shown",
    prepare: (rows) => Effect.forEach(rows, remote),
    rejects: [
      ["coalesce(uri, '') = '' OR coalesce(inbox_url, '') = ''", "the account speaks no ActivityPub"],
      ["uri !~ '^https?://'", "the id of the account is no URL"]
    ],
    write: [writeAccounts, writeActors, ...scheduleDeletion, ...writeRemote],
    changes: true
  }
  const own: Step = {
    name: "local accounts",
    table: "accounts",
    where: "t.domain IS NULL",
    columns,
    prepared: "html shown",
    prepare: (rows) => Effect.forEach(rows, local),
    // Biographies mention other local accounts.
    readsOwn: true,
    rejects: [["coalesce(id_scheme, 0) NOT IN (0, 1)", "the scheme of its ids is unknown"]],
    write: [
      writeAccounts,
      writeActors,
      ...scheduleDeletion,
      `INSERT INTO account_stats (account_id) SELECT id FROM staged ON CONFLICT DO NOTHING`
    ],
    changes: true
  }
  const moves: Step = {
    name: "moved accounts",
    table: "accounts",
    where: "t.moved_to_account_id IS NOT NULL",
    columns: "id:bigint moved_to_account_id:bigint updated_at:timestamptz",
    rejects: [[
      "NOT EXISTS (SELECT FROM accounts a WHERE a.id = staged.moved_to_account_id)",
      "the target of its move was not copied"
    ]],
    write: [
      `UPDATE accounts a SET moved_to_id = staged.moved_to_account_id FROM staged WHERE a.id = staged.id`
    ],
    changes: true
  }
  return [others, own, moves] as const
})
