import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { ServerConfig } from "../instance/ServerConfig.ts"
import type { ListKind } from "./Transfer.ts"

type Config = Pick<ServerConfig["Service"], "localDomain" | "publicUrl">

/**
 * Selects what an account has of a kind, with the columns `id` (the cursor), `subject_id`, `name` as in the lines of a
 * file, `list` (the title for members of lists, otherwise ""), and `removable` (false for follow requests, which files
 * do not contain).
 */
export const relationsOf = (
  sql: SqlClient,
  { localDomain, publicUrl }: Config,
  kind: ListKind,
  owner: bigint
): Fragment => {
  const handle = sql`lower(a.username) || '@' || lower(coalesce(a.domain, ${localDomain}::text))`
  const related = (table: "follows" | "follow_requests" | "blocks" | "mutes") =>
    sql`SELECT r.id, r.target_account_id AS subject_id, ${handle} AS name, '' AS list,
        ${table !== "follow_requests"} AS removable
      FROM ${sql(table)} r JOIN accounts a ON a.id = r.target_account_id WHERE r.account_id = ${owner}::bigint`
  switch (kind) {
    case "follows":
      return sql`${related("follows")} UNION ALL ${related("follow_requests")}`
    case "blocks":
    case "mutes":
      return related(kind)
    case "domain_blocks":
      return sql`SELECT r.id, NULL::bigint AS subject_id, r.domain AS name, '' AS list, true AS removable
        FROM domain_mutes r WHERE r.account_id = ${owner}::bigint`
    case "bookmarks":
    case "favourites":
      return sql`SELECT r.id, r.status_id AS subject_id,
          coalesce(s.uri, ${publicUrl}::text || a.actor_path || '/statuses/' || s.id) AS name, '' AS list,
          true AS removable
        FROM ${sql(kind)} r JOIN statuses s ON s.id = r.status_id JOIN accounts a ON a.id = s.account_id
        WHERE r.account_id = ${owner}::bigint`
    case "lists":
      return sql`SELECT r.id, r.account_id AS subject_id, ${handle} || ' ' || l.title AS name, l.title AS list,
          true AS removable
        FROM lists l JOIN list_accounts r ON r.list_id = l.id JOIN accounts a ON a.id = r.account_id
        WHERE l.account_id = ${owner}::bigint`
    case "filters":
      return sql`SELECT r.id, r.id AS subject_id, r.title AS name, '' AS list, true AS removable
        FROM filters r WHERE r.account_id = ${owner}::bigint`
  }
}
