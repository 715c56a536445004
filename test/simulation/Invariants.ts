import { Clock, Effect } from "effect"
import { newest } from "../../src/services/feeds/HomeQuery.ts"
import { feedEntriesWhole } from "../../src/services/feeds/Feeds.ts"
import type { AccountId } from "../../src/services/Ids.ts"
import { visibleTo } from "../../src/services/statuses/Visibility.ts"
import type { Outcome } from "./Scenario.ts"
import type { World } from "./World.ts"

/** Names of the invariants are those of the project's list: I1 no accepted post lost, I2 one status a key, and so on. */
export const check = Effect.fnUntraced(function*(
  { feeds, sql }: World,
  accounts: ReadonlyArray<AccountId>,
  outcomes: ReadonlyArray<Outcome>
) {
  const broken: Array<string> = []
  const expectNone = (name: string, rows: ReadonlyArray<object>) => {
    if (rows.length > 0) broken.push(`${name}: ${JSON.stringify(rows.slice(0, 3), (_, v) => typeof v === "bigint" ? String(v) : v)}`)
  }
  const now = new Date(yield* Clock.currentTimeMillis)

  const posts = outcomes.filter(({ command }) => command._tag === "Publish")
  for (const { key, result } of posts) {
    if (typeof result === "string" || !("id" in result)) continue
    const rows = yield* sql`SELECT id FROM statuses WHERE id = ${BigInt(result.id)}`
    if (rows.length !== 1) broken.push(`I1: ${key} was answered with ${result.id}, which is not there`)
  }
  for (const { account, command, key, result } of posts) {
    if (command._tag !== "Publish") continue
    const rows = yield* sql`SELECT id FROM statuses WHERE account_id = ${account} AND text = ${command.post.text}`
    const most = typeof result === "object" && "error" in result ? 0 : 1
    if (rows.length > most) broken.push(`I2: ${key} gave ${rows.length} statuses`)
  }

  for (const reader of accounts) {
    const oracle = yield* newest(sql, reader, { limit: feedEntriesWhole }, now)
    const stored = yield* feeds.read(reader)
    if (stored !== undefined) {
      const ids = stored.map(({ id }) => id)
      const missing = oracle.filter(({ id }) => !ids.includes(id))
      if (missing.length > 0) broken.push(`I3: ${missing.map(({ id }) => id)} missing in the home of ${reader}`)
      if (new Set(ids).size !== ids.length) broken.push(`I3: an entry twice in the home of ${reader}`)
      if (ids.some((id, at) => at > 0 && ids[at - 1]! <= id)) broken.push(`I3: the home of ${reader} is out of order`)
    }
    yield* feeds.drop([reader])
    yield* feeds.fill(reader, oracle.map(({ id, reblogOfId }) => ({ id, reblogOf: reblogOfId ?? undefined })))
    const rebuilt = (yield* feeds.read(reader)) ?? []
    if (String(rebuilt.map(({ id }) => id)) !== String(oracle.map(({ id }) => id))) {
      broken.push(`I4: the home of ${reader} is not rebuilt equal`)
    }
  }

  expectNone("I9", yield* sql`SELECT account_id, type, from_account_id, status_id FROM notifications
    GROUP BY 1, 2, 3, 4 HAVING count(*) > 1`)
  expectNone("I9: a favourite without its notification", yield* sql`SELECT f.id FROM favourites f
    JOIN statuses s ON s.id = f.status_id AND s.account_id <> f.account_id AND s.deleted_at IS NULL
    WHERE NOT EXISTS (SELECT FROM notifications n WHERE n.account_id = s.account_id AND n.type = 'favourite'
      AND n.from_account_id = f.account_id AND n.status_id = s.id)
    AND NOT EXISTS (SELECT FROM commands c WHERE c.account_id IN (s.account_id, f.account_id)
      AND (c.id LIKE 'Block:%' OR c.id LIKE 'Mute:%'))`)
  expectNone("I10: a deleted status is seen", yield* sql`SELECT s.id FROM statuses s, accounts a
    WHERE s.deleted_at IS NOT NULL AND ${visibleTo(sql, sql`a.id`, "s")}`)
  expectNone("I10: a deleted status notifies", yield* sql`SELECT n.id FROM notifications n
    JOIN statuses s ON s.id = n.status_id WHERE s.deleted_at IS NOT NULL`)
  expectNone("I10: a reblog outlives its original", yield* sql`SELECT s.id FROM statuses s
    JOIN statuses o ON o.id = s.reblog_of_id WHERE o.deleted_at IS NOT NULL AND s.deleted_at IS NULL`)
  expectNone("I12: accounts", yield* sql`SELECT s.account_id FROM account_stats s WHERE
    followers_count <> (SELECT count(*) FROM follows f WHERE f.target_account_id = s.account_id)
    OR following_count <> (SELECT count(*) FROM follows f WHERE f.account_id = s.account_id)
    OR statuses_count <> (SELECT count(*) FROM statuses t WHERE t.account_id = s.account_id AND t.deleted_at IS NULL)`)
  expectNone("I12: statuses", yield* sql`SELECT * FROM (SELECT s.*,
      (SELECT count(*)::int FROM favourites f WHERE f.status_id = s.status_id) AS favourites,
      (SELECT count(*)::int FROM statuses t WHERE t.reblog_of_id = s.status_id AND t.deleted_at IS NULL) AS reblogs,
      (SELECT count(*)::int FROM statuses t WHERE t.in_reply_to_id = s.status_id AND t.deleted_at IS NULL) AS replies
    FROM status_stats s) c WHERE favourites_count <> favourites OR reblogs_count <> reblogs OR replies_count <> replies`)
  // Rows lie in the order of their commits, for the one session writes them one after the other.
  expectNone("I13: an older epoch committed after a newer one", yield* sql`SELECT * FROM (
    SELECT account_id, epoch, lag(epoch) OVER (PARTITION BY account_id ORDER BY ctid) AS before FROM commands) c
    WHERE epoch < before`)
  expectNone("I19: ids fall", yield* sql`SELECT * FROM (
    SELECT id, lag(id) OVER (PARTITION BY account_id ORDER BY created_at) AS before FROM statuses) s WHERE id < before`)
  expectNone("I16: intents are left", yield* sql`SELECT id, kind FROM fanouts`)
  expectNone("I16: something due is left", yield* sql`SELECT kind FROM agenda WHERE due_at < ${now}`)
  return broken
})
