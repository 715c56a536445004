import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StatusIndex } from "../../../src/services/search/StatusIndex.ts"
import { hashedKey } from "../../../src/services/secrets/HashedKey.ts"
import { plainCard } from "../../support/PlainCard.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const card = { version: 1, ...plainCard }

/** More than the largest page of accounts, and more than the pages of 200. */
const [crowdCount, manyCount] = [95, 205]

/**
 * Creates a user with more of everything than a page holds, among remote accounts. Data that requires a user without
 * hidden accounts is in another fixture.
 */
export const crowd = Effect.gen(function*() {
  const { createPerson, createToken } = yield* TestServer
  const sql = yield* SqlClient.SqlClient
  const millis = yield* Clock.currentTimeMillis
  const people = yield* Effect.forEach(["reader", "hider", "newcomer", "caller"] as const, (name) => createPerson(name))
  const [reader, hider, newcomer, caller] = people
  if (reader === undefined || hider === undefined || newcomer === undefined || caller === undefined) {
    return yield* Effect.die("nobody")
  }
  const [me, other, third] = [reader.accountId, hider.accountId, newcomer.accountId]
  const at = new Date(millis - 3_600_000)
  const base = BigInt(millis - 7_200_000) << 16n
  const all = sql`generate_series(1, ${crowdCount}::int) n`
  const many = sql`generate_series(1, ${manyCount}::int) n`
  const [id, post] = [
    (n: string) => sql.literal(`${base} + ${n}`),
    (n: string) => sql.literal(`${base} + 1000000 + ${n}`)
  ]
  const hers = base + 2_000_000n

  yield* sql`INSERT INTO accounts (id, username, domain, uri, url, display_name, discoverable, indexable, created_at, updated_at)
    SELECT ${
    id("n")
  }, 'crowd' || n, 'crowd' || CASE WHEN n > 80 THEN n::text ELSE '' END || '.example', 'https://crowd.example/users/' || n, 'https://crowd.example/@' || n, 'Crowd', true, true, ${at}, ${at} FROM ${all}`
  yield* sql`INSERT INTO account_stats (account_id, statuses_count, last_status_at) SELECT ${
    id("n")
  }, 9, ${at} FROM ${all}`
  yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) SELECT ${id("n")}, ${me}, ${
    id("n")
  }, ${at} FROM ${all}`
  yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) SELECT ${id("500 + n")}, ${
    id("n")
  }, ${me}, ${at} FROM ${all}`
  for (const table of ["blocks", "mutes"]) {
    yield* sql`INSERT INTO ${sql(table)} (id, account_id, target_account_id) SELECT ${id("n")}, ${other}, ${
      id("n")
    } FROM ${all}`
  }
  yield* sql`INSERT INTO domain_mutes (id, account_id, domain) SELECT ${
    id("n")
  }, ${me}, 'hidden' || n || '.example' FROM ${many}`
  yield* sql`INSERT INTO follow_requests (id, account_id, target_account_id, created_at) SELECT ${id("n")}, ${
    id("n")
  }, ${other}, ${at} FROM ${all}`
  yield* sql`INSERT INTO endorsements (id, account_id, target_account_id) SELECT ${id("n")}, ${me}, ${
    id("n")
  } FROM ${all}`
  yield* sql`INSERT INTO tags (id, name, display_name, created_at, last_status_at, trendable, reviewed_at)
    SELECT ${id("n")}, 'obst' || n, 'obst' || n, ${at}, ${at}, true, ${at} FROM ${many}`
  yield* sql`INSERT INTO tag_follows (id, account_id, tag_id) SELECT ${id("n")}, ${me}, ${id("n")} FROM ${many}`
  yield* sql`INSERT INTO lists (id, account_id, title, replies_policy, exclusive) VALUES (${base}, ${me}, 'Crowd', 'list', false)`
  yield* sql`INSERT INTO list_accounts (id, list_id, account_id) SELECT ${id("n")}, ${base}, ${id("n")} FROM ${all}`

  // Public posts of one account with a hashtag and a link, and a private message from each account.
  const posts = (first: string, account: string, visibility: string) =>
    sql`INSERT INTO statuses (id, account_id, local, uri, html, visibility, language, conversation_id, created_at)
      SELECT ${post(`${first} + n`)}, ${id(account)}, false, 'https://crowd.example/posts/' || (${
      sql.literal(first)
    } + n), '<p>kumquat</p>',
        ${visibility}, 'en', ${post(`${first} + n`)}, ${at} FROM ${all}`
  yield* posts("0", "1", "public")
  yield* posts("1000", "n", "direct")
  yield* posts("-2000", "n", "public")
  yield* sql`INSERT INTO statuses (id, account_id, text, html, visibility, language, conversation_id, created_at)
    SELECT ${hers}::bigint + n, ${me}, 'kumquat', '<p>kumquat</p>', 'public', 'en', ${hers}::bigint + n, ${at} FROM generate_series(0, 12) n`
  yield* sql`INSERT INTO status_stats (status_id) SELECT id FROM statuses ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO mentions (status_id, account_id) SELECT ${post("1000 + n")}, ${me} FROM ${all}`
  yield* sql`INSERT INTO account_conversations (id, account_id, conversation_id, participant_ids, status_ids, last_status_id, unread)
    SELECT ${id("n")}, ${me}, ${post("1000 + n")}, ARRAY[${id("n")}], ARRAY[${post("1000 + n")}], ${
    post("1000 + n")
  }, true FROM ${all}`
  yield* sql`INSERT INTO statuses_tags (tag_id, status_id) SELECT ${id("1")}, ${post("n")} FROM ${all}`
  yield* sql`INSERT INTO statuses_tags (tag_id, status_id) SELECT ${
    id("100 + n")
  }, ${hers}::bigint + n FROM generate_series(0, 12) n`
  for (const table of ["favourites", "bookmarks"]) {
    yield* sql`INSERT INTO ${sql(table)} (id, account_id, status_id) SELECT ${id("n")}, ${me}, ${post("n")} FROM ${all}`
  }
  yield* sql`INSERT INTO favourites (id, account_id, status_id) SELECT ${id("500 + n")}, ${
    id("n")
  }, ${hers} FROM ${all}`
  yield* sql`INSERT INTO statuses (id, account_id, local, uri, visibility, reblog_of_id, conversation_id, created_at)
    SELECT ${post("n - 5000")}, ${
    id("n")
  }, false, 'https://crowd.example/boosts/' || n, 'public', ${hers}, ${hers}, ${at} FROM ${all}`
  yield* sql`INSERT INTO scheduled_statuses (id, account_id, scheduled_at, params, created_at)
    SELECT ${id("n")}, ${me}, ${new Date(
    millis + 86_400_000
  )}, '{"text":"later","version":1}'::jsonb, ${at} FROM ${all}`

  // Each account has caused one notification of each type, and has a pending request to the other person.
  const told = (first: string, type: string, about: string) =>
    sql`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
      SELECT ${id(`${first} + n`)}, ${me}, ${type}, ${id("n")}, ${sql.literal(about)}, ${at} FROM ${all}`
  yield* told("0", "mention", `${base} + 1001000 + n`)
  yield* told("500", "favourite", String(hers))
  yield* sql`INSERT INTO notification_requests (id, account_id, from_account_id, created_at, updated_at)
    SELECT ${id("n")}, ${third}, ${id("n")}, ${at}, ${at} FROM ${all}`
  yield* sql`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at, filtered)
    SELECT ${id("9000 + n")}, ${third}, 'mention', ${id("n")}, ${post("n - 2000")}, ${at}, true FROM ${all}`

  yield* sql`INSERT INTO quotes (status_id, account_id, quoted_status_id, quoted_account_id, state, created_at)
    SELECT ${post("n - 2000")}, ${id("n")}, ${hers}, ${me}, 'accepted', ${at} FROM ${all}`
  yield* sql`INSERT INTO collections (id, account_id, local, uri, name, created_at, updated_at)
    SELECT ${id("n")}, ${id("n")}, false, 'https://crowd.example/collections/' || n, 'Theirs', ${at}, ${at} FROM ${all}`
  yield* sql`INSERT INTO collections (id, account_id, local, name, created_at, updated_at)
    SELECT ${id("500 + n")}, ${me}, true, 'Hers', ${at}, ${at} FROM ${all}`
  yield* sql`INSERT INTO collection_items (id, collection_id, account_id, state, position, created_at, updated_at)
    SELECT ${id("n")}, ${id("n")}, ${me}, 'accepted', 1, ${at}, ${at} FROM ${all}`

  // Inserts trends, as if computed.
  yield* sql`INSERT INTO tag_trends (tag_id, score, max_score, max_score_at) SELECT ${id("n")}, 9, 9, ${at} FROM ${all}`
  yield* sql`INSERT INTO status_trends (status_id, score) SELECT ${post("n")}, 9 FROM ${all}`
  yield* sql`INSERT INTO status_reviews (status_id, trendable, reviewed_at) SELECT ${
    post("n")
  }, true, ${at} FROM ${all}`
  yield* sql`INSERT INTO preview_cards (id, url_key, url, site, page_host, details, trendable, created_at, fetched_at)
    SELECT ${id("n")}, ${
    sql.literal("'' || n")
  }, 'https://page' || n || '.example/', 'page' || n || '.example', 'page' || n || '.example',
      ${JSON.stringify(card)}::jsonb, true, ${at}, ${at} FROM ${all}`
  yield* sql`UPDATE preview_cards SET url_key = ${hashedKey("https://page1.example/")} WHERE id = ${base + 1n}`
  yield* sql`INSERT INTO status_cards (status_id, card_id, url) SELECT ${post("n")}, ${
    id("1")
  }, 'https://page1.example/' FROM ${all}`
  yield* sql`INSERT INTO card_trends (card_id, score, max_score, max_score_at) SELECT ${
    id("n")
  }, 9, 9, ${at} FROM ${all}`
  yield* sql`INSERT INTO popular_accounts (source, account_id, place) SELECT 'most_followed', ${id("n")}, n FROM ${all}`
  yield* sql`INSERT INTO favourites (id, account_id, status_id) SELECT ${id("700 + n")}, ${third}, ${
    post("n - 2000")
  } FROM ${all}`
  yield* sql`ANALYZE`
  const { step } = yield* StatusIndex.pipe(Effect.provide(StatusIndex.layer))
  yield* Effect.repeat(step, { until: (more) => !more })
  const everything = "profile read write follow push crypto".split(" ")
  const tokenOf = ({ accountId }: Person) => createToken(accountId, everything)
  const token = yield* tokenOf(reader)
  yield* sql`INSERT INTO devices (id, token_id, account_id, device_id, name, fingerprint_key, identity_key, created_at, updated_at)
    SELECT ${base}, max(id), ${me}, 'phone', 'Phone', 'x', 'y', ${at}, ${at} FROM oauth_tokens WHERE account_id = ${me}`
  yield* sql`INSERT INTO encrypted_messages (id, device, from_account_id, from_device_id, type, body, digest, message_franking, created_at)
    SELECT ${id("n")}, ${base}, ${base + 1n}, 'phone', 1, 'x', 'y', 'z', ${at} FROM ${many}`
  return {
    caller,
    tokens: { reader: token, hider: yield* tokenOf(hider), newcomer: yield* tokenOf(newcomer) },
    ids: { account: base + 1n, list: base, post: base + 1_000_001n, own: hers, me }
  }
})
