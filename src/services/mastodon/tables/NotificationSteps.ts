import { nowMark, type Step } from "../Step.ts"
import { lacksAccount, lacksPostHere, lacksUser } from "./ColumnSql.ts"

/** Maximum age of notifications that are copied, in days. */
const daysMax = 30

/** Types by Mastodon's classes of activities, for rows from before there were types. */
const type =
  `coalesce(nullif(t.type, ''), CASE t.activity_type WHEN 'Mention' THEN 'mention' WHEN 'Status' THEN 'reblog'
  WHEN 'Follow' THEN 'follow' WHEN 'FollowRequest' THEN 'follow_request' WHEN 'Favourite' THEN 'favourite' WHEN 'Poll' THEN 'poll' END)`

const columns =
  `id:bigint account_id:bigint from_account_id:bigint activity_id:bigint filtered:boolean created_at:timestamptz
  updated_at:timestamptz`

const notifications = (
  name: string,
  types: ReadonlyArray<string>,
  joins: string,
  statusId: string,
  needs?: string
): Step => ({
  name,
  table: "notifications",
  ...(needs !== undefined && { needs }),
  joins,
  where: `t.created_at > '${nowMark}'::timestamp - interval '${daysMax} days' AND ${type} IN (${
    types.map((one) => `'${one}'`).join(", ")
  })`,
  columns,
  computed: [["kind", type], ["status_id:bigint", statusId]],
  // Notifications about missing posts would show nothing.
  skips: [
    lacksUser("account_id")[0],
    lacksAccount("from_account_id")[0],
    `kind NOT IN ('follow', 'follow_request', 'admin.sign_up', 'admin.report', 'moderation_warning') AND ${
      lacksPostHere("status_id")
    }`,
    "kind = 'admin.report' AND NOT EXISTS (SELECT FROM reports r WHERE r.id = staged.activity_id)",
    "kind = 'moderation_warning' AND NOT EXISTS (SELECT FROM account_warnings w WHERE w.id = staged.activity_id)"
  ],
  write: [`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, report_id, filtered, created_at)
    SELECT id, account_id, kind, CASE kind WHEN 'moderation_warning' THEN account_id ELSE from_account_id END,
      CASE kind WHEN 'moderation_warning' THEN activity_id ELSE coalesce(status_id, 0) END,
      CASE kind WHEN 'admin.report' THEN activity_id ELSE 0 END, coalesce(filtered, false), created_at FROM staged ON CONFLICT DO NOTHING`],
  ends: "notifications"
})

const decision = (column: string) =>
  `(ARRAY['accept', 'filter', 'drop'])[least(2, greatest(0, coalesce(${column}, 0))) + 1]`

/** Notifications of the last days, and what their owners filter of them. */
export const steps: ReadonlyArray<Step> = [
  notifications(
    "notifications",
    [
      "mention",
      "status",
      "reblog",
      "favourite",
      "follow",
      "follow_request",
      "poll",
      "update",
      "admin.sign_up",
      "admin.report",
      "moderation_warning"
    ],
    `LEFT JOIN mentions m ON t.activity_type = 'Mention' AND m.id = t.activity_id
      LEFT JOIN favourites f ON t.activity_type = 'Favourite' AND f.id = t.activity_id
      LEFT JOIN polls p ON t.activity_type = 'Poll' AND p.id = t.activity_id
      LEFT JOIN statuses s ON t.activity_type = 'Status' AND s.id = t.activity_id`,
    "coalesce(m.status_id, f.status_id, p.status_id, s.reblog_of_id, s.id)"
  ),
  notifications(
    "notifications of quotes",
    ["quote", "quoted_update"],
    "JOIN quotes q ON t.activity_type = 'Quote' AND q.id = t.activity_id",
    "q.status_id",
    "quotes"
  ),
  {
    name: "notification policies",
    table: "notification_policies",
    columns:
      `account_id:bigint for_not_following:int for_not_followers:int for_new_accounts:int for_private_mentions:int
      for_limited_accounts:int for_bots:int updated_at:timestamptz`,
    rejects: [lacksUser("account_id")],
    write: [
      `INSERT INTO notification_policies (account_id, not_following, not_followers, new_accounts, private_mentions, limited_accounts, bots)
      SELECT account_id, ${decision("for_not_following")}, ${decision("for_not_followers")}, ${
        decision("for_new_accounts")
      },
        ${decision("for_private_mentions")}, ${decision("for_limited_accounts")}, ${decision("for_bots")} FROM staged
      ON CONFLICT (account_id) DO UPDATE SET not_following = excluded.not_following, not_followers = excluded.not_followers,
        new_accounts = excluded.new_accounts, private_mentions = excluded.private_mentions, limited_accounts = excluded.limited_accounts,
        bots = excluded.bots`
    ],
    changes: true
  },
  {
    name: "accepted senders",
    table: "notification_permissions",
    columns: "account_id:bigint from_account_id:bigint",
    rejects: [lacksUser("account_id"), lacksAccount("from_account_id")],
    write: [
      `INSERT INTO notification_permissions (account_id, from_account_id) SELECT account_id, from_account_id FROM staged ON CONFLICT DO NOTHING`
    ]
  },
  {
    name: "notification requests",
    table: "notification_requests",
    columns: "id:bigint account_id:bigint from_account_id:bigint created_at:timestamptz updated_at:timestamptz",
    rejects: [lacksUser("account_id"), lacksAccount("from_account_id")],
    write: [`INSERT INTO notification_requests (id, account_id, from_account_id, created_at, updated_at)
      SELECT id, account_id, from_account_id, created_at, updated_at FROM staged ON CONFLICT DO NOTHING`],
    ends: "notification_requests"
  }
]
