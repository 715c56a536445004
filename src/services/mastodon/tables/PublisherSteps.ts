import { Effect } from "effect"
import { linkOf } from "../../cards/StatusLinks.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import type { Step } from "../Step.ts"
import * as ReviewSteps from "./ReviewSteps.ts"

/**
 * Publishers of links, with the review of staff for trends. Mastodon reviews hosts and this server reviews sites: a refusal
 * of any host refuses the site, and an approval of any other approves it.
 */
export const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const siteOf = (domain: string) => linkOf(config, `https://${domain}/`)?.site
  const reviewed = yield* ReviewSteps.make("preview_card_providers", "domain", siteOf, "site")
  return {
    name: "publishers of links",
    table: "preview_card_providers",
    columns: "id:bigint domain requested_review_at:timestamptz updated_at:timestamptz",
    prepared: "site trendable:boolean reviewed_at:timestamptz",
    prepare: (rows) => reviewed(rows.map((row) => ({ ...row, site: siteOf(row["domain"] ?? "") ?? null }))),
    rejects: [
      ["site IS NULL", "the domain is invalid, or this server's"],
      [
        "EXISTS (SELECT FROM preview_card_providers p WHERE p.id = staged.id AND p.site <> staged.site)",
        "the publisher has another domain since the copy"
      ]
    ],
    write: [
      `INSERT INTO preview_card_providers AS p (id, site, trendable, reviewed_at, requested_review_at)
        SELECT DISTINCT ON (site) id, site, trendable, reviewed_at, requested_review_at FROM staged ORDER BY site, id
        ON CONFLICT (site) DO UPDATE SET trendable = excluded.trendable, reviewed_at = excluded.reviewed_at,
          requested_review_at = greatest(p.requested_review_at, excluded.requested_review_at)`
    ],
    changes: true
  } satisfies Step
})
