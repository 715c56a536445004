import { Effect } from "effect"
import { lookalikeKey } from "../../identity/Usernames.ts"
import { emailBlocksMax } from "../../moderation/CanonicalEmailBlocks.ts"
import { usernameBlocksMax } from "../../moderation/UsernameBlocks.ts"
import { nowMark, type Step } from "../Step.ts"
import { beyond } from "./ColumnSql.ts"

const domainColumns = "id:bigint domain created_at:timestamptz updated_at:timestamptz"
const noDomain = ["coalesce(domain, '') = ''", "the domain is empty"] as const

/** Rules of staff about servers, e-mail providers, addresses and usernames. */
export const steps: ReadonlyArray<Step> = [
  {
    name: "domain blocks",
    table: "domain_blocks",
    columns:
      `${domainColumns} severity:int reject_media:boolean reject_reports:boolean private_comment public_comment obfuscate:boolean`,
    rejects: [noDomain, ["coalesce(severity, 0) NOT BETWEEN 0 AND 2", "the severity is unknown"]],
    write: [
      `INSERT INTO domain_blocks (id, domain, severity, reject_media, reject_reports, private_comment, public_comment, obfuscate, created_at,
          updated_at)
        SELECT id, lower(domain), (ARRAY['silence', 'suspend', 'noop'])[coalesce(severity, 0) + 1], coalesce(reject_media, false),
          coalesce(reject_reports, false), nullif(private_comment, ''), nullif(public_comment, ''), coalesce(obfuscate, false), created_at, updated_at
        FROM staged ON CONFLICT (domain) DO UPDATE SET severity = excluded.severity, reject_media = excluded.reject_media,
          reject_reports = excluded.reject_reports, private_comment = excluded.private_comment, public_comment = excluded.public_comment,
          obfuscate = excluded.obfuscate, updated_at = excluded.updated_at`,
      // Mastodon gives the accounts of a blocked server the time of the block, so that its end lifts them.
      `UPDATE accounts a SET suspended_by_domain = true FROM staged s
        WHERE s.severity = 1 AND lower(a.domain) = lower(s.domain) AND a.suspended_at = s.created_at`,
      `UPDATE accounts a SET silenced_by_domain = true FROM staged s
        WHERE s.severity = 0 AND lower(a.domain) = lower(s.domain) AND a.silenced_at = s.created_at`
    ],
    changes: true,
    ends: "domain_blocks"
  },
  {
    name: "allowed servers",
    table: "domain_allows",
    columns: domainColumns,
    rejects: [noDomain],
    write: [
      `INSERT INTO domain_allows (id, domain, created_at) SELECT id, lower(domain), created_at FROM staged ON CONFLICT DO NOTHING`
    ],
    ends: "domain_allows"
  },
  {
    name: "blocks of e-mail providers",
    table: "email_domain_blocks",
    columns: `${domainColumns} allow_with_approval:boolean`,
    rejects: [noDomain],
    write: [`INSERT INTO email_domain_blocks (id, domain, allow_with_approval, created_at)
      SELECT id, lower(domain), coalesce(allow_with_approval, false), created_at FROM staged ON CONFLICT DO NOTHING`],
    ends: "email_domain_blocks"
  },
  {
    name: "blocks of addresses",
    table: "ip_blocks",
    columns: "id:bigint ip severity:int comment created_at:timestamptz updated_at:timestamptz expires_at:timestamptz",
    rejects: [
      ["severity NOT IN (5000, 5500, 9999)", "the severity is unknown"],
      // One that is here and was ended early gets its end.
      [
        `expires_at < '${nowMark}'::timestamptz AND NOT EXISTS (SELECT FROM ip_blocks b WHERE b.id = staged.id)`,
        "the block has expired"
      ]
    ],
    write: [`INSERT INTO ip_blocks (id, ip, severity, comment, created_at, updated_at, expires_at)
      SELECT id, network(ip::inet), CASE severity WHEN 5000 THEN 'sign_up_requires_approval' WHEN 5500 THEN 'sign_up_block' ELSE 'no_access' END,
        coalesce(comment, ''), created_at, updated_at, expires_at FROM staged
      ON CONFLICT (id) DO UPDATE SET ip = excluded.ip, severity = excluded.severity, comment = excluded.comment,
        updated_at = excluded.updated_at, expires_at = excluded.expires_at`],
    changes: true,
    ends: "ip_blocks"
  },
  {
    name: "blocks of e-mail addresses",
    table: "canonical_email_blocks",
    columns: "id:bigint canonical_email_hash reference_account_id:bigint created_at:timestamptz",
    rejects: [
      ["canonical_email_hash !~ '^[0-9a-f]{64}$' OR canonical_email_hash IS NULL", "the hash is invalid"],
      beyond("canonical_email_blocks", emailBlocksMax, "blocked addresses")
    ],
    write: [
      `INSERT INTO canonical_email_blocks (id, canonical_email_hash, account_id, created_at)
        SELECT id, canonical_email_hash, (SELECT a.id FROM accounts a WHERE a.id = reference_account_id), created_at FROM staged
        ON CONFLICT DO NOTHING`
    ],
    ends: "canonical_email_blocks"
  },
  {
    name: "blocks of usernames",
    table: "username_blocks",
    columns:
      "id:bigint username exact:boolean allow_with_approval:boolean created_at:timestamptz updated_at:timestamptz",
    prepared: "key",
    prepare: (rows) => Effect.succeed(rows.map((row) => ({ ...row, key: lookalikeKey(row["username"] ?? "") }))),
    rejects: [
      ["username !~ '^[A-Za-z0-9_]{1,30}$' OR key = ''", "no account could have the username"],
      beyond("username_blocks", usernameBlocksMax, "blocked usernames")
    ],
    write: [
      `INSERT INTO username_blocks (id, username, normalized_username, exact, allow_with_approval, created_at, updated_at)
        SELECT id, username, key, coalesce(exact, false), coalesce(allow_with_approval, false), created_at, updated_at FROM staged
        ON CONFLICT (id) DO UPDATE SET username = excluded.username, normalized_username = excluded.normalized_username,
          exact = excluded.exact, allow_with_approval = excluded.allow_with_approval, updated_at = excluded.updated_at`
    ],
    changes: true,
    ends: "username_blocks"
  }
]
