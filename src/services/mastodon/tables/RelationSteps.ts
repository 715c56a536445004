import { nowMark, type Step } from "../Step.ts"
import { lacksAccount, lacksPost, lacksUser, listOrNull } from "./ColumnSql.ts"

const pair = [lacksAccount("account_id"), lacksAccount("target_account_id")] as const

const lacksTag = ["NOT EXISTS (SELECT FROM tags g WHERE g.id = staged.tag_id)", "the hashtag was not copied"] as const

/** Ids of activities of remote accounts, by which an Undo finds its target. */
const undoable = (type: "Follow" | "Block") =>
  `INSERT INTO undoable_activities (account_id, uri, type, target_id)
    SELECT s.account_id, s.uri, '${type}', s.target_account_id FROM staged s JOIN remote_actors r ON r.account_id = s.account_id
    WHERE coalesce(s.uri, '') <> '' ON CONFLICT DO NOTHING`

const followColumns =
  `id:bigint account_id:bigint target_account_id:bigint show_reblogs:boolean notify:boolean languages uri
  created_at:timestamptz updated_at:timestamptz`
const follow = (name: "follows" | "follow_requests"): Step => ({
  name: name === "follows" ? "follows" : "follow requests",
  table: name,
  columns: followColumns,
  rejects: pair,
  write: [
    `INSERT INTO ${name} (id, account_id, target_account_id, show_reblogs, notify, languages, created_at, uri)
      SELECT id, account_id, target_account_id, coalesce(show_reblogs, true), coalesce(notify, false), ${
      listOrNull("languages")
    }, created_at, nullif(uri, '') FROM staged
      ON CONFLICT (account_id, target_account_id) DO UPDATE SET show_reblogs = excluded.show_reblogs,
        notify = excluded.notify, languages = excluded.languages`,
    undoable("Follow")
  ],
  changes: true,
  ends: name
})

const ofPost = (name: string, table: string, rejects: Step["rejects"]): Step => ({
  name,
  table,
  columns: "id:bigint account_id:bigint status_id:bigint",
  rejects: [...rejects ?? [], lacksPost("status_id")],
  write: [
    `INSERT INTO ${table} (id, account_id, status_id) SELECT id, account_id, status_id FROM staged ON CONFLICT DO NOTHING`
  ],
  ends: table
})

/** Relations of accounts to accounts and posts, and what they keep about them. */
export const steps: ReadonlyArray<Step> = [
  follow("follows"),
  follow("follow_requests"),
  {
    name: "blocks",
    table: "blocks",
    columns: "id:bigint account_id:bigint target_account_id:bigint uri",
    rejects: pair,
    write: [
      `INSERT INTO blocks (id, account_id, target_account_id, uri) SELECT id, account_id, target_account_id, nullif(uri, '')
        FROM staged ON CONFLICT DO NOTHING`,
      undoable("Block")
    ],
    ends: "blocks"
  },
  {
    name: "mutes",
    table: "mutes",
    columns: `id:bigint account_id:bigint target_account_id:bigint hide_notifications:boolean expires_at:timestamptz
      updated_at:timestamptz`,
    rejects: pair,
    write: [
      `INSERT INTO mutes (id, account_id, target_account_id, hide_notifications, expires_at)
        SELECT id, account_id, target_account_id, coalesce(hide_notifications, true), expires_at FROM staged
        ON CONFLICT (account_id, target_account_id) DO UPDATE SET hide_notifications = excluded.hide_notifications,
          expires_at = excluded.expires_at`,
      `INSERT INTO agenda (kind, subject_id, account_id, due_at) SELECT 'mute_end', id, account_id, expires_at FROM staged
        WHERE expires_at IS NOT NULL ON CONFLICT (kind, subject_id) DO UPDATE SET due_at = excluded.due_at`
    ],
    changes: true,
    ends: "mutes"
  },
  {
    name: "blocks of domains",
    table: "account_domain_blocks",
    columns: "id:bigint account_id:bigint domain",
    rejects: [lacksAccount("account_id"), ["coalesce(domain, '') = ''", "the domain is empty"]],
    write: [
      `INSERT INTO domain_mutes (id, account_id, domain) SELECT id, account_id, lower(domain) FROM staged ON CONFLICT DO NOTHING`
    ],
    ends: "domain_mutes"
  },
  ofPost("favourites", "favourites", [lacksAccount("account_id")]),
  ofPost("bookmarks", "bookmarks", [lacksUser("account_id")]),
  ofPost("pins", "status_pins", [lacksAccount("account_id")]),
  {
    name: "lists",
    table: "lists",
    columns: "id:bigint account_id:bigint title replies_policy:int exclusive:boolean updated_at:timestamptz",
    rejects: [lacksUser("account_id")],
    write: [`INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
      SELECT id, account_id, title, (ARRAY['list', 'followed', 'none'])[coalesce(replies_policy, 0) + 1], coalesce(exclusive, false) FROM staged
      ON CONFLICT (id) DO UPDATE SET title = excluded.title, replies_policy = excluded.replies_policy, exclusive = excluded.exclusive`],
    changes: true,
    ends: "lists"
  },
  {
    name: "accounts of lists",
    table: "list_accounts",
    columns: "id:bigint account_id:bigint list_id:bigint",
    rejects: [
      lacksAccount("account_id"),
      ["NOT EXISTS (SELECT FROM lists l WHERE l.id = staged.list_id)", "the list was not copied"]
    ],
    write: [
      `INSERT INTO list_accounts (id, list_id, account_id) SELECT id, list_id, account_id FROM staged ON CONFLICT DO NOTHING`
    ],
    changes: "unseen",
    ends: "list_accounts"
  },
  {
    name: "notes about accounts",
    table: "account_notes",
    columns: "account_id:bigint target_account_id:bigint comment updated_at:timestamptz",
    rejects: pair,
    write: [`INSERT INTO account_notes (account_id, target_account_id, comment)
      SELECT account_id, target_account_id, comment FROM staged WHERE coalesce(comment, '') <> ''
      ON CONFLICT (account_id, target_account_id) DO UPDATE SET comment = excluded.comment`],
    changes: true
  },
  {
    name: "featured accounts",
    table: "account_pins",
    columns: "id:bigint account_id:bigint target_account_id:bigint",
    rejects: pair,
    write: [
      `INSERT INTO endorsements (id, account_id, target_account_id) SELECT id, account_id, target_account_id FROM staged
      ON CONFLICT DO NOTHING`
    ],
    ends: "endorsements"
  },
  {
    name: "followed hashtags",
    table: "tag_follows",
    columns: "id:bigint account_id:bigint tag_id:bigint",
    rejects: [lacksUser("account_id"), lacksTag],
    write: [
      `INSERT INTO tag_follows (id, account_id, tag_id) SELECT id, account_id, tag_id FROM staged ON CONFLICT DO NOTHING`
    ],
    ends: "tag_follows"
  },
  {
    name: "featured hashtags",
    table: "featured_tags",
    columns: "id:bigint account_id:bigint tag_id:bigint name",
    rejects: [lacksAccount("account_id"), lacksTag],
    write: [`INSERT INTO featured_tags (id, account_id, tag_id, name) SELECT s.id, s.account_id, s.tag_id,
        coalesce(nullif(s.name, ''), g.display_name) FROM staged s JOIN tags g ON g.id = s.tag_id ON CONFLICT DO NOTHING`],
    ends: "featured_tags"
  },
  {
    name: "filters",
    table: "custom_filters",
    columns: "id:bigint account_id:bigint phrase context action:int expires_at:timestamptz updated_at:timestamptz",
    rejects: [lacksUser("account_id"), [`expires_at < '${nowMark}'::timestamptz`, "the filter has expired"]],
    write: [`INSERT INTO filters (id, account_id, title, contexts, action, expires_at)
      SELECT id, account_id, coalesce(phrase, ''), coalesce(${listOrNull("context")}, '{}'),
        (ARRAY['warn', 'hide', 'blur'])[coalesce(action, 0) + 1], expires_at FROM staged
      ON CONFLICT (id) DO UPDATE SET title = excluded.title, contexts = excluded.contexts, action = excluded.action,
        expires_at = excluded.expires_at`],
    changes: true,
    ends: "filters"
  },
  {
    name: "words of filters",
    table: "custom_filter_keywords",
    columns: "id:bigint custom_filter_id:bigint keyword whole_word:boolean updated_at:timestamptz",
    rejects: [["NOT EXISTS (SELECT FROM filters f WHERE f.id = staged.custom_filter_id)", "the filter was not copied"]],
    write: [`INSERT INTO filter_keywords (id, filter_id, keyword, whole_word)
      SELECT id, custom_filter_id, keyword, coalesce(whole_word, true) FROM staged
      ON CONFLICT (id) DO UPDATE SET keyword = excluded.keyword, whole_word = excluded.whole_word`],
    changes: true,
    ends: "filter_keywords"
  },
  {
    name: "posts of filters",
    table: "custom_filter_statuses",
    columns: "id:bigint custom_filter_id:bigint status_id:bigint",
    rejects: [
      ["NOT EXISTS (SELECT FROM filters f WHERE f.id = staged.custom_filter_id)", "the filter was not copied"],
      lacksPost("status_id")
    ],
    write: [`INSERT INTO filter_statuses (id, filter_id, status_id) SELECT id, custom_filter_id, status_id FROM staged
      ON CONFLICT DO NOTHING`],
    ends: "filter_statuses"
  },
  {
    name: "muted threads",
    table: "conversation_mutes",
    columns: "account_id:bigint conversation_id:bigint",
    rejects: [lacksUser("account_id")],
    write: [`INSERT INTO conversation_mutes (account_id, conversation_id) SELECT account_id, conversation_id FROM staged
      ON CONFLICT DO NOTHING`],
    changes: "unseen"
  }
]
