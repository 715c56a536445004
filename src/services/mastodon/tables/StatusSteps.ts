import { Effect } from "effect"
import { nowMark, sinceMark, type Step } from "../Step.ts"
import { lacksAccount, lacksPost, listOf } from "./ColumnSql.ts"
import { renderer } from "./TextRenderer.ts"

/** Looked up for each post: without OFFSET, Postgres would read the whole table for each batch, to hash it. */
const exists = (rows: string) => `EXISTS (SELECT FROM ${rows} OFFSET 0)`

/**
 * Posts of other servers that are copied: those that local accounts interacted with, and those of the last `days`. The
 * others are fetched again when somebody asks for them.
 */
const isCopied = (days: number) =>
  [
    "coalesce(t.local, t.uri IS NULL)",
    `t.created_at > '${nowMark}'::timestamp - ${days} * interval '1 day'`,
    exists("favourites x WHERE x.status_id = t.id"),
    exists("bookmarks x WHERE x.status_id = t.id"),
    exists("statuses x WHERE x.reblog_of_id = t.id AND x.local"),
    exists("statuses x WHERE x.id = t.reblog_of_id AND coalesce(x.local, x.uri IS NULL)"),
    exists("statuses x WHERE x.in_reply_to_id = t.id AND x.local"),
    exists("status_pins x WHERE x.status_id = t.id"),
    exists("mentions x JOIN accounts a ON a.id = x.account_id WHERE x.status_id = t.id AND a.domain IS NULL")
  ].join(" OR ")

/** Ids of older posts that these copied rows referred to first since the last run. */
const referredSince = (ids: string, rows: string) => `SELECT ${ids} FROM ${rows} WHERE r.created_at >= ${sinceMark}`
const concernsSince = `t.id IN (${
  [
    ...["favourites", "bookmarks", "status_pins", "mentions"].map((table) =>
      referredSince("r.status_id", `${table} r`)
    ),
    ...["reblog_of_id", "in_reply_to_id"].map((column) => `${referredSince(`r.${column}`, "statuses r")} AND r.local`)
  ].join(" UNION ALL ")
})`

/** Posts of other servers, in contrast to boosts and to local posts, which are all copied. */
const isOthers = "t.reblog_of_id IS NULL AND NOT coalesce(t.local, t.uri IS NULL)"
const reported = "SELECT unnest(r.status_ids) FROM reports r"
/** Posts of any age that local accounts quote, or that quote them: their servers look up the consent. */
const quotedHere = `SELECT q.quoted_status_id FROM quotes q JOIN accounts a ON a.id = q.account_id AND a.domain IS NULL
  WHERE q.quoted_status_id IS NOT NULL
  UNION ALL SELECT q.status_id FROM quotes q JOIN accounts a ON a.id = q.quoted_account_id AND a.domain IS NULL`

/** Policy words of Mastodon's bits: automatic audiences in the upper 16, those that need approval in the lower. */
const quotePolicy = (() => {
  const groups = [[1, "unsupported"], [2, "public"], [4, "followers"], [8, "following"]] as const
  const words = (approval: "automatic" | "manual", shift: number) =>
    groups.map(([bit, group]) =>
      `CASE WHEN (quote_approval_policy >> ${shift}) & ${bit} <> 0 THEN ARRAY['canQuote:${approval}:${group}'] ELSE '{}' END`
    )
  // A post from before quotes may be quoted by its author only, as at Mastodon.
  return `CASE WHEN coalesce(quote_approval_policy, 0) = 0 THEN CASE WHEN is_local THEN ARRAY['canQuote'] END
    ELSE ARRAY['canQuote'] || ${[...words("automatic", 16), ...words("manual", 0)].join(" || ")} END`
})()

const columns = `id:bigint account_id:bigint uri url text spoiler_text sensitive:boolean visibility:int language
  in_reply_to_id:bigint in_reply_to_account_id:bigint reblog_of_id:bigint conversation_id:bigint application_id:bigint
  created_at:timestamptz edited_at:timestamptz quote_approval_policy:int content_type local_only:boolean updated_at:timestamptz`

const computed = [
  ["is_local:boolean", "coalesce(t.local, t.uri IS NULL)"],
  [
    "mentioned",
    "(SELECT json_agg(json_build_array(m.account_id::text, coalesce(m.silent, false))) FROM mentions m WHERE m.status_id = t.id AND m.account_id IS NOT NULL)"
  ],
  [
    "parent_uri",
    "(SELECT p.uri FROM statuses p WHERE p.id = t.in_reply_to_id AND NOT coalesce(p.local, p.uri IS NULL) AND p.deleted_at IS NULL)"
  ],
  ["ordered", "to_jsonb(t.ordered_media_attachment_ids)"],
  ["tag_ids", "(SELECT json_agg(x.tag_id::text) FROM statuses_tags x WHERE x.status_id = t.id)"]
] as const

const rejects = [
  lacksAccount("account_id"),
  ["NOT is_local AND coalesce(uri, '') = ''", "the post of another server has no id"],
  ["visibility NOT BETWEEN 0 AND 4", "the visibility is unknown"]
] as const

/** The parent is here, or comes with this batch. */
const hasParent = `(EXISTS (SELECT FROM statuses p WHERE p.id = staged.in_reply_to_id) OR EXISTS (SELECT FROM staged p
      WHERE p.id = staged.in_reply_to_id))`

const writeStatuses =
  `INSERT INTO statuses (id, account_id, uri, url, local, text, html, spoiler_text, sensitive, visibility, limited,
    language, in_reply_to_id, in_reply_to_uri, in_reply_to_account_id, reblog_of_id, conversation_id, application_id, created_at, edited_at,
    interaction_policy, content_type, local_only)
  SELECT id, account_id, CASE WHEN NOT is_local THEN uri END, CASE WHEN NOT is_local THEN coalesce(nullif(url, ''), uri) END, is_local,
    CASE WHEN is_local THEN coalesce(text, '') ELSE '' END, coalesce(html, ''), coalesce(spoiler_text, ''), coalesce(sensitive, false),
    (ARRAY['public', 'unlisted', 'private', 'direct', 'direct'])[visibility + 1], visibility = 4, nullif(language, ''),
    CASE WHEN ${hasParent} THEN in_reply_to_id END, CASE WHEN NOT ${hasParent} THEN nullif(parent_uri, '') END, in_reply_to_account_id, reblog_of_id, coalesce(conversation_id, id),
    CASE WHEN EXISTS (SELECT FROM oauth_apps a WHERE a.id = staged.application_id) THEN application_id END, created_at, edited_at,
    ${quotePolicy}, CASE WHEN is_local AND content_type = 'text/markdown' THEN 'text/markdown' ELSE 'text/plain' END,
    is_local AND coalesce(local_only, false) FROM staged
  ON CONFLICT (id) DO UPDATE SET text = excluded.text, html = excluded.html, spoiler_text = excluded.spoiler_text,
    sensitive = excluded.sensitive, language = excluded.language, edited_at = excluded.edited_at,
    interaction_policy = excluded.interaction_policy,
    in_reply_to_id = coalesce(excluded.in_reply_to_id, statuses.in_reply_to_id),
    in_reply_to_uri = CASE WHEN coalesce(excluded.in_reply_to_id, statuses.in_reply_to_id) IS NULL THEN excluded.in_reply_to_uri END`

const writeParts = [
  `INSERT INTO status_stats (status_id) SELECT id FROM staged ON CONFLICT DO NOTHING`,
  `INSERT INTO mentions (status_id, account_id, silent)
    SELECT s.id, (e ->> 0)::bigint, (e ->> 1)::boolean FROM staged s, json_array_elements(coalesce(s.mentioned, '[]')::json) e
    JOIN accounts a ON a.id = (e ->> 0)::bigint ON CONFLICT DO NOTHING`,
  `INSERT INTO statuses_tags (status_id, tag_id)
    SELECT s.id, g.id FROM staged s JOIN tags g ON g.id = ANY (${
    listOf("s.tag_ids", "bigint")
  }) ON CONFLICT DO NOTHING`,
  `INSERT INTO status_aliases (uri, status_id) SELECT uri, id FROM staged WHERE is_local AND uri LIKE 'tag:%' ON CONFLICT DO NOTHING`
]

const conversations: Step = {
  name: "conversations",
  table: "conversations",
  // Without a parent Mastodon names a thread by its local domain and date, which the program that reads these rows adds.
  columns: "id:bigint uri created_at:timestamptz parent_account_id:bigint parent_status_id:bigint",
  prepared: "public_url domain",
  write: [`INSERT INTO conversations (id, uri, root_id)
    SELECT id, coalesce(nullif(uri, ''), public_url || '/contexts/' || parent_account_id || '-' || parent_status_id,
      'tag:' || domain || ',' || to_char(created_at, 'YYYY-MM-DD') || ':objectId=' || id || ':objectType=Conversation'),
      CASE WHEN coalesce(uri, '') = '' THEN parent_status_id END FROM staged
    ON CONFLICT (id) DO UPDATE SET uri = excluded.uri, root_id = excluded.root_id`],
  changes: true
}

const polls: Step = {
  name: "polls",
  table: "polls",
  columns:
    `status_id:bigint account_id:bigint options cached_tallies voters_count:int multiple:boolean hide_totals:boolean
    expires_at:timestamptz updated_at:timestamptz`,
  rejects: [
    lacksPost("status_id"),
    [
      "jsonb_array_length(coalesce(options, '[]')::jsonb) <> jsonb_array_length(coalesce(cached_tallies, '[]')::jsonb)",
      "the poll has another number of counts than of options"
    ]
  ],
  write: [
    // An edit of the options ended the votes.
    `DELETE FROM poll_votes v USING staged s JOIN polls p ON p.status_id = s.status_id
      WHERE v.status_id = s.status_id AND p.options <> ${listOf("s.options", "text")}`,
    `INSERT INTO polls (status_id, options, counts, voters_count, multiple, hide_totals, expires_at)
    SELECT status_id, ${listOf("options", "text")}, ${listOf("cached_tallies", "bigint")}::int[], voters_count,
      coalesce(multiple, false), coalesce(hide_totals, false), expires_at FROM staged
    ON CONFLICT (status_id) DO UPDATE SET options = excluded.options, multiple = excluded.multiple,
      hide_totals = excluded.hide_totals, counts = excluded.counts, voters_count = excluded.voters_count, expires_at = excluded.expires_at`,
    `INSERT INTO agenda (kind, subject_id, account_id, due_at) SELECT 'poll_end', status_id, account_id, expires_at FROM staged
    WHERE expires_at > '${nowMark}'::timestamptz ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = excluded.due_at`
  ],
  changes: true,
  // An edit may have removed the poll of a post.
  ends: "polls",
  endsBy: { column: "status_id", cursorOf: "posts" }
}

const votes: Step = {
  name: "votes",
  table: "poll_votes",
  joins: "JOIN polls p ON p.id = t.poll_id",
  columns: "account_id:bigint choice:int",
  computed: [["status_id:bigint", "p.status_id"]],
  rejects: [
    lacksAccount("account_id"),
    ["NOT EXISTS (SELECT FROM polls p WHERE p.status_id = staged.status_id)", "the poll was not copied"]
  ],
  write: [`INSERT INTO poll_votes (status_id, account_id, choice, place)
    SELECT status_id, account_id, choice, least(2147483647, transfer_key)::int FROM staged ON CONFLICT DO NOTHING`]
}

const tags: Step = {
  name: "tags",
  table: "tags",
  columns: `id:bigint name display_name listable:boolean usable:boolean trendable:boolean created_at:timestamptz
    last_status_at:timestamptz reviewed_at:timestamptz requested_review_at:timestamptz`,
  write: [
    `INSERT INTO tags (id, name, display_name, listable, usable, trendable, created_at, last_status_at, reviewed_at, requested_review_at)
    SELECT id, lower(name), coalesce(nullif(display_name, ''), name), coalesce(listable, true), coalesce(usable, true), trendable, created_at,
      last_status_at, reviewed_at, requested_review_at FROM staged
    ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, listable = excluded.listable, usable = excluded.usable,
      trendable = excluded.trendable, reviewed_at = excluded.reviewed_at, requested_review_at = excluded.requested_review_at,
      last_status_at = greatest(tags.last_status_at, excluded.last_status_at)`
  ],
  changes: true
}

const ordered = listOf("s.ordered", "bigint")
/** Attachments that an edit since the copy removed: the sweep deletes them. */
const endAttachments = [
  `UPDATE media_attachments m SET status_id = NULL, touched_at = '${nowMark}'::timestamptz FROM staged s
    WHERE m.status_id = s.id AND s.is_local AND s.edited_at IS NOT NULL AND s.ordered IS NOT NULL
      AND NOT m.id = ANY (${ordered})`,
  `UPDATE statuses p SET media_ids = ARRAY(SELECT e FROM unnest(p.media_ids) WITH ORDINALITY AS x (e, place)
      WHERE e = ANY (${ordered}) ORDER BY place)
    FROM staged s WHERE p.id = s.id AND s.is_local AND s.edited_at IS NOT NULL AND s.ordered IS NOT NULL`
]

/** Posts with their threads, mentions, hashtags and polls. */
export const make = Effect.fnUntraced(function*(
  { domain, days, publicUrl }: { readonly domain: string; readonly days: number; readonly publicUrl: string }
) {
  const rendered = yield* renderer

  const step = (name: string, where: string): Step => ({
    name,
    table: "statuses",
    where: `t.deleted_at IS NULL AND ${where}`,
    columns,
    computed,
    prepared: "html",
    prepare: rendered,
    rejects: name === "boosts" ? [...rejects, lacksPost("reblog_of_id")] : rejects,
    write: [writeStatuses, ...writeParts, ...endAttachments],
    changes: true
  })
  const threads: Step = {
    ...conversations,
    prepare: (rows) => Effect.succeed(rows.map((row) => ({ ...row, ["public_url"]: publicUrl, domain })))
  }
  const all = (name: string, kind: string): Step => ({
    ...step(name, `${kind} AND (${isCopied(days)})`),
    // The other conditions look up who refers to each post.
    countedWhere: `t.deleted_at IS NULL AND ${kind}`,
    changesWith: concernsSince,
    ends: "statuses"
  })
  return [
    tags,
    threads,
    all("posts", "t.reblog_of_id IS NULL"),
    // After the local posts that they reply to, before their boosts.
    {
      ...step("quoted posts", `${isOthers} AND t.id IN (${quotedHere})`),
      needs: "quotes",
      changesWith: `t.id IN (${referredSince("r.quoted_status_id", "quotes r")})`
    },
    {
      ...step("reported posts", `${isOthers} AND t.id IN (${reported})`),
      needs: "reports",
      changesWith: `t.id IN (${referredSince("unnest(r.status_ids)", "reports r")})`
    },
    all("boosts", "t.reblog_of_id IS NOT NULL"),
    polls,
    votes
  ] satisfies ReadonlyArray<Step>
})
