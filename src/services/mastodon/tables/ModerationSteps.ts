import { warningPresetsMax } from "../../moderation/WarningPresets.ts"
import type { Step } from "../Step.ts"
import { beyond, lacksAccount, listOf } from "./ColumnSql.ts"

const localAccount = (column: string) => `(SELECT a.id FROM accounts a WHERE a.id = ${column})`

/** Number of an enumeration of Mastodon as a word. */
const wordOf = (column: string, words: Readonly<Record<number, string>>) =>
  `CASE ${column} ${Object.entries(words).map(([value, word]) => `WHEN ${value} THEN '${word}'`).join(" ")} END`

const category = wordOf("coalesce(category, 0)", { 0: "other", 1_000: "spam", 1_500: "legal", 2_000: "violation" })
const action = wordOf("coalesce(action, 0)", {
  0: "none",
  1_000: "disable",
  1_250: "mark_statuses_as_sensitive",
  1_500: "delete_statuses",
  2_000: "sensitive",
  3_000: "silence",
  4_000: "suspend"
})

/**
 * Notes of staff about a report or an account. Mastodon has a table for each, whose ids begin at 1: notes about reports
 * get even ids here, those about accounts odd ones.
 */
const notes = (
  name: string,
  table: string,
  subject: "report_id" | "target_account_id",
  lacksSubject: readonly [string, string]
): Step => ({
  name,
  table,
  columns: `id:bigint ${subject}:bigint account_id:bigint content created_at:timestamptz`,
  rejects: [lacksSubject],
  write: [`INSERT INTO moderation_notes (id, account_id, ${subject}, content, created_at)
    SELECT id * 2 + ${subject === "report_id" ? 0 : 1}, ${
    localAccount("account_id")
  }, ${subject}, coalesce(content, ''), created_at FROM staged
    ON CONFLICT DO NOTHING`]
})

/** Reports, strikes, appeals and notes of staff. */
export const steps: ReadonlyArray<Step> = [
  {
    name: "reports",
    table: "reports",
    joins:
      "LEFT JOIN accounts reporter ON reporter.id = t.account_id LEFT JOIN accounts target ON target.id = t.target_account_id",
    columns:
      `id:bigint account_id:bigint target_account_id:bigint category:int comment status_ids rule_ids forwarded:boolean uri
      action_taken_at:timestamptz action_taken_by_account_id:bigint assigned_account_id:bigint created_at:timestamptz updated_at:timestamptz`,
    // The instance actor, which reports for the server, is no account here.
    computed: [["by_server:boolean", "coalesce(reporter.id < 0, false)"], ["target_domain", "target.domain"]],
    rejects: [
      lacksAccount("target_account_id"),
      [
        "NOT by_server AND NOT EXISTS (SELECT FROM accounts a WHERE a.id = staged.account_id)",
        "the reporter was not copied"
      ],
      [`${category} IS NULL`, "the category is unknown"]
    ],
    write: [
      `INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids, rule_ids, forward_domains, uri, created_at,
        updated_at, action_taken_at, action_taken_by_account_id, assigned_account_id)
      SELECT id, CASE WHEN NOT by_server THEN account_id END, target_account_id, ${category}, coalesce(comment, ''),
        ${listOf("status_ids", "bigint")}, ${listOf("rule_ids", "bigint")},
        CASE WHEN forwarded AND target_domain IS NOT NULL THEN ARRAY[target_domain] ELSE '{}' END, nullif(uri, ''), created_at, updated_at,
        action_taken_at, ${localAccount("action_taken_by_account_id")}, ${
        localAccount("assigned_account_id")
      } FROM staged
      ON CONFLICT (id) DO UPDATE SET action_taken_at = excluded.action_taken_at, category = excluded.category, rule_ids = excluded.rule_ids,
        action_taken_by_account_id = excluded.action_taken_by_account_id, assigned_account_id = excluded.assigned_account_id,
        updated_at = excluded.updated_at`
    ],
    changes: true
  },
  notes("notes about reports", "report_notes", "report_id", [
    "NOT EXISTS (SELECT FROM reports r WHERE r.id = staged.report_id)",
    "the report was not copied"
  ]),
  notes("notes of staff", "account_moderation_notes", "target_account_id", lacksAccount("target_account_id")),
  {
    name: "notes about servers",
    table: "instance_moderation_notes",
    columns: "id:bigint domain account_id:bigint content created_at:timestamptz",
    rejects: [["coalesce(domain, '') = ''", "the domain is empty"]],
    write: [`INSERT INTO instance_notes (id, domain, account_id, content, created_at)
      SELECT id, lower(domain), ${
      localAccount("account_id")
    }, coalesce(content, ''), created_at FROM staged ON CONFLICT DO NOTHING`],
    ends: "instance_notes"
  },
  {
    name: "strikes",
    table: "account_warnings",
    columns:
      `id:bigint account_id:bigint target_account_id:bigint action:int text status_ids report_id:bigint overruled_at:timestamptz
      created_at:timestamptz updated_at:timestamptz`,
    rejects: [lacksAccount("target_account_id"), [`${action} IS NULL`, "the action is unknown"]],
    write: [
      `INSERT INTO account_warnings (id, account_id, target_account_id, action, text, status_ids, report_id, overruled_at, created_at)
      SELECT id, ${localAccount("account_id")}, target_account_id, ${action}, coalesce(text, ''), ${
        listOf("status_ids", "bigint")
      },
        (SELECT r.id FROM reports r WHERE r.id = report_id), overruled_at, created_at FROM staged
      ON CONFLICT (id) DO UPDATE SET overruled_at = excluded.overruled_at`
    ],
    changes: true
  },
  {
    name: "appeals",
    table: "appeals",
    columns:
      `id:bigint account_warning_id:bigint account_id:bigint text approved_at:timestamptz approved_by_account_id:bigint
      rejected_at:timestamptz rejected_by_account_id:bigint created_at:timestamptz updated_at:timestamptz`,
    rejects: [
      lacksAccount("account_id"),
      [
        "NOT EXISTS (SELECT FROM account_warnings w WHERE w.id = staged.account_warning_id)",
        "the strike was not copied"
      ]
    ],
    write: [
      `INSERT INTO appeals (id, account_warning_id, account_id, text, state, decided_by_account_id, decided_at, created_at)
      SELECT id, account_warning_id, account_id, coalesce(text, ''),
        CASE WHEN approved_at IS NOT NULL THEN 'approved' WHEN rejected_at IS NOT NULL THEN 'rejected' ELSE 'pending' END,
        ${
        localAccount("coalesce(approved_by_account_id, rejected_by_account_id)")
      }, coalesce(approved_at, rejected_at), created_at FROM staged
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, decided_by_account_id = excluded.decided_by_account_id,
        decided_at = excluded.decided_at`
    ],
    changes: true
  },
  {
    name: "warning presets",
    table: "account_warning_presets",
    columns: "id:bigint title text created_at:timestamptz updated_at:timestamptz",
    rejects: [beyond("warning_presets", warningPresetsMax, "warning presets")],
    write: [`INSERT INTO warning_presets (id, title, text, created_at, updated_at)
      SELECT id, coalesce(title, ''), coalesce(text, ''), created_at, updated_at FROM staged
      ON CONFLICT (id) DO UPDATE SET title = excluded.title, text = excluded.text, updated_at = excluded.updated_at`],
    changes: true,
    ends: "warning_presets"
  }
]
