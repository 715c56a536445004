import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tables whose writes a trigger delays, and the maximum delay in milliseconds. */
const slowTables = ["follows", "follow_requests", "blocks", "favourites", "statuses", "poll_votes", "media_attachments"]
const delayMillisMax = 18

/** Widens the gap between a command's reads and writes, by a different delay for each transaction. */
export const delayWrites = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE FUNCTION delay_write() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    PERFORM pg_sleep((txid_current() * 7 % 10) * ${delayMillisMax / 9 / 1_000});
    RETURN NEW;
  END $$`)
  for (const table of slowTables) {
    yield* sql.unsafe(
      `CREATE TRIGGER delay_write BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION delay_write()`
    )
  }
})

/** Describes inconsistent states that must not remain after all work is done. */
export const inconsistencies = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ wrong: string }>`
    WITH relations AS (SELECT 'follows' AS how, account_id AS one, target_account_id AS other FROM follows
      UNION ALL SELECT 'requests', account_id, target_account_id FROM follow_requests),
    named AS (SELECT r.how, r.one, r.other, a.username || ' ' || r.how || ' ' || t.username AS words, t.locked
      FROM relations r JOIN accounts a ON a.id = r.one JOIN accounts t ON t.id = r.other)
    SELECT words || ' despite a block' AS wrong FROM named JOIN blocks b
      ON (b.account_id, b.target_account_id) IN ((one, other), (other, one))
    UNION ALL SELECT words || ', whom it already follows' FROM named n WHERE how = 'requests'
      AND EXISTS (SELECT FROM follows f WHERE f.account_id = n.one AND f.target_account_id = n.other)
    UNION ALL SELECT words || ', who is not locked' FROM named WHERE how = 'requests' AND NOT locked
      -- Requests of muted accounts stay pending.
      AND NOT EXISTS (SELECT FROM mutes m WHERE m.account_id = named.other AND m.target_account_id = named.one)
    UNION ALL SELECT a.username || ' has wrong counts: ' || row_to_json(s) || ', not ' || row_to_json(c) FROM account_stats s
      JOIN accounts a ON a.id = s.account_id CROSS JOIN LATERAL (SELECT
        (SELECT count(*) FROM follows f WHERE f.target_account_id = s.account_id) AS followers,
        (SELECT count(*) FROM follows f WHERE f.account_id = s.account_id) AS following,
        (SELECT count(*) FROM statuses t WHERE t.account_id = s.account_id AND t.deleted_at IS NULL) AS statuses) c
      WHERE (followers_count, following_count, statuses_count) <> (followers, following, statuses)
    UNION ALL SELECT 'post ' || s.status_id || ' has wrong counts: ' || row_to_json(s) || ', not ' || row_to_json(c)
      FROM status_stats s JOIN statuses p ON p.id = s.status_id AND p.deleted_at IS NULL CROSS JOIN LATERAL (SELECT
        (SELECT count(*) FROM favourites f WHERE f.status_id = s.status_id) AS favourites,
        (SELECT count(*) FROM statuses t WHERE t.reblog_of_id = s.status_id AND t.deleted_at IS NULL) AS reblogs,
        (SELECT count(*) FROM statuses t WHERE t.in_reply_to_id = s.status_id AND t.deleted_at IS NULL) AS replies) c
      WHERE (favourites_count, reblogs_count, replies_count) <> (favourites, reblogs, replies)
    UNION ALL SELECT 'poll ' || p.status_id || ' has wrong counts: ' || row_to_json(p) FROM polls p
      JOIN statuses s ON s.id = p.status_id AND s.deleted_at IS NULL WHERE
        voters_count <> (SELECT count(DISTINCT account_id) FROM poll_votes v WHERE v.status_id = p.status_id)
        OR counts <> (SELECT array_agg((SELECT count(*)::int FROM poll_votes v
          WHERE v.status_id = p.status_id AND v.choice = o.at - 1) ORDER BY o.at)
          FROM generate_series(1, cardinality(p.options)) AS o (at))
    UNION ALL SELECT 'account ' || v.account_id || ' voted ' || count(*) || ' times in ' || v.status_id FROM poll_votes v
      JOIN polls p ON p.status_id = v.status_id AND NOT p.multiple GROUP BY v.account_id, v.status_id HAVING count(*) > 1
    UNION ALL SELECT 'pin of the deleted post ' || p.status_id FROM status_pins p
      JOIN statuses s ON s.id = p.status_id WHERE s.deleted_at IS NOT NULL
    UNION ALL SELECT 'boost of the deleted post ' || s.id FROM statuses b JOIN statuses s ON s.id = b.reblog_of_id
      WHERE s.deleted_at IS NOT NULL AND b.deleted_at IS NULL
    UNION ALL SELECT 'notification of the deleted post ' || s.id FROM notifications n
      JOIN statuses s ON s.id = n.status_id WHERE s.deleted_at IS NOT NULL
    UNION ALL SELECT 'file ' || m.id || ' is in ' || count(*) || ' posts' FROM media_attachments m
      JOIN statuses s ON m.id = ANY (s.media_ids) AND s.deleted_at IS NULL GROUP BY m.id HAVING count(*) > 1`
  return rows.map(({ wrong }) => wrong)
})
