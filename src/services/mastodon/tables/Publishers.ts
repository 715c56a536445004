import { Effect } from "effect"
import { linkOf } from "../../cards/StatusLinks.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import type { Step } from "../Step.ts"

/**
 * Publishers of links, with the review of staff for trends. Mastodon reviews hosts and this server reviews sites: a refusal
 * of any host refuses the site, and an approval of any other approves it.
 */
export const make = Effect.map(ServerConfig, (config): Step => ({
  name: "publishers of links",
  table: "preview_card_providers",
  columns:
    "id:bigint domain trendable:boolean reviewed_at:timestamptz requested_review_at:timestamptz updated_at:timestamptz",
  prepared: "site",
  prepare: (rows) =>
    Effect.succeed(rows.map((row) => ({ ...row, site: linkOf(config, `https://${row["domain"]}/`)?.site ?? null }))),
  rejects: [
    ["site IS NULL", "the domain is invalid, or this server's"],
    [
      "EXISTS (SELECT FROM preview_card_providers p WHERE p.id = staged.id AND p.site <> staged.site)",
      "the publisher has another domain since the copy"
    ]
  ],
  // least() ignores null, and false is less than true.
  write: [
    `INSERT INTO preview_card_providers AS p (id, site, trendable, reviewed_at, requested_review_at)
      SELECT DISTINCT ON (site) id, site, trendable, reviewed_at, requested_review_at FROM staged ORDER BY site, trendable, id
      ON CONFLICT (site) DO UPDATE SET reviewed_at = greatest(p.reviewed_at, excluded.reviewed_at),
        trendable = CASE WHEN p.id = excluded.id THEN excluded.trendable ELSE least(p.trendable, excluded.trendable) END`
  ],
  changes: true
}))
