import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { isBlockedEitherWay } from "../visibility/HiddenAccounts.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"

/*
 * The rules for who may add whom to a collection. Discoverable local accounts accept everyone, or only their followers
 * if locked. Remote accounts state who may (`remote_actors`), and are asked.
 */

const follows = (follower: string, followed: string) =>
  `EXISTS (SELECT FROM follows f WHERE f.account_id = ${follower} AND f.target_account_id = ${followed} OFFSET 0)`

/** Condition: a policy of a remote account `a` includes the curator, an expression of its id. */
const allows = (policy: string, curator: string) =>
  `('public' = ANY (r.${policy}) OR ('followers' = ANY (r.${policy}) AND ${follows(curator, "a.id")})
    OR ('following' = ANY (r.${policy}) AND ${follows("a.id", curator)}))`

/** Condition: the curator may add an account `a` to a collection, or ask it; `curator` is an expression of an id. */
export const mayFeature = (sql: SqlClient, curator: Fragment): Fragment => {
  const me = "curator.id"
  return sql`EXISTS (SELECT FROM (SELECT ${curator} AS id) curator WHERE a.suspended_at IS NULL AND a.moved_to_id IS NULL
    AND ${sql.literal(presentAccount("a"))} AND NOT ${isBlockedEitherWay(sql, sql.literal(me), sql`a.id`)}
    AND CASE WHEN a.domain IS NULL THEN a.discoverable AND (NOT a.locked OR a.id = curator.id OR ${
    sql.literal(follows(me, "a.id"))
  })
      ELSE EXISTS (SELECT FROM remote_actors r WHERE r.account_id = a.id
        AND (${sql.literal(allows("feature_automatic", me))} OR ${sql.literal(allows("feature_manual", me))})) END)`
}

/**
 * SQL expression: the result of adding an account `a`. 'automatic' takes effect at once or after an automatic
 * acceptance by its server, 'manual' waits for approval, 'denied' is refused.
 */
export const featureVerdict = (sql: SqlClient, curator: Fragment): Fragment =>
  sql`CASE WHEN NOT ${mayFeature(sql, curator)} THEN 'denied' WHEN a.domain IS NULL OR EXISTS (SELECT FROM (
    SELECT ${curator} AS id) curator JOIN remote_actors r ON r.account_id = a.id AND ${
    sql.literal(allows("feature_automatic", "curator.id"))
  }) THEN 'automatic' ELSE 'manual' END`
