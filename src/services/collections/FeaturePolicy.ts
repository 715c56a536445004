import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { isSeparate } from "../HiddenAccounts.ts"
import { presentAccount } from "../PresentAccounts.ts"

/*
 * THE decision who may put whom into a collection. Accounts of this server that want to be found agree to everybody, and locked
 * ones to their followers; those of others say who may (`remote_actors`), and are asked.
 */

const follows = (follower: string, followed: string) =>
  `EXISTS (SELECT FROM follows f WHERE f.account_id = ${follower} AND f.target_account_id = ${followed} OFFSET 0)`

/** Whether a policy of a remote account `a` names the curator, an expression of its id. */
const allows = (policy: string, curator: string) =>
  `('public' = ANY (r.${policy}) OR ('followers' = ANY (r.${policy}) AND ${follows(curator, "a.id")})
    OR ('following' = ANY (r.${policy}) AND ${follows("a.id", curator)}))`

/** Whether the curator may put an account `a` into a collection, or ask it; `curator` is an expression of an id. */
export const mayFeature = (sql: SqlClient, curator: Fragment): Fragment => {
  const me = "curator.id"
  return sql`EXISTS (SELECT FROM (SELECT ${curator} AS id) curator WHERE a.suspended_at IS NULL AND a.moved_to_id IS NULL
    AND ${sql.literal(presentAccount("a"))} AND NOT ${isSeparate(sql, sql.literal(me), sql`a.id`)}
    AND CASE WHEN a.domain IS NULL THEN a.discoverable AND (NOT a.locked OR a.id = curator.id OR ${
    sql.literal(follows(me, "a.id"))
  })
      ELSE EXISTS (SELECT FROM remote_actors r WHERE r.account_id = a.id
        AND (${sql.literal(allows("feature_automatic", me))} OR ${sql.literal(allows("feature_manual", me))})) END)`
}

/**
 * What comes of it where the curator puts an account `a` into a collection: it stands there at once or after its server's own
 * "yes", waits for somebody who decides, or may not be put there.
 */
export const featureStanding = (sql: SqlClient, curator: Fragment): Fragment =>
  sql`CASE WHEN NOT ${mayFeature(sql, curator)} THEN 'denied' WHEN a.domain IS NULL OR EXISTS (SELECT FROM (
    SELECT ${curator} AS id) curator JOIN remote_actors r ON r.account_id = a.id AND ${
    sql.literal(allows("feature_automatic", "curator.id"))
  }) THEN 'automatic' ELSE 'manual' END`
