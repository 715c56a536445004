import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PersistedCard } from "../../src/services/cards/Card.ts"
import { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { hashedKey } from "../../src/services/secrets/HashedKey.ts"
import { TrendRefresh } from "../../src/services/trends/TrendRefresh.ts"
import { configurationOf } from "./Configuration.ts"
import { plainCard } from "./PlainCard.ts"

/** Inserts inactive accounts of another server; returns their ids. */
export const remoteAccounts = Effect.fnUntraced(function*(host: string, size: number) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const accounts = yield* sql<{ readonly id: bigint }>`WITH made AS (
      INSERT INTO accounts (id, username, domain, uri, discoverable, created_at, updated_at)
      SELECT next_id(${now}), 'one' || i, ${host}, 'https://' || ${host}::text || '/' || i, true, ${new Date(
    now
  )}, ${new Date(now)}
      FROM generate_series(1, ${size}) i RETURNING id),
    stats AS (INSERT INTO account_stats (account_id) SELECT id FROM made)
    SELECT id FROM made ORDER BY id`
  return accounts.map(({ id }) => id)
})

/** Makes all of the accounts favourite a post. */
export const favouritedBy = Effect.fnUntraced(function*(status: string, accounts: ReadonlyArray<bigint>) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* sql`INSERT INTO favourites (id, account_id, status_id)
    SELECT next_id(${now}), a, ${BigInt(status)} FROM unnest(${accounts}::bigint[]) a`
  yield* sql`UPDATE status_stats SET favourites_count = favourites_count + ${accounts.length} WHERE status_id = ${
    BigInt(status)
  }`
})

/** Makes each account use a hashtag in a public post, the given number of days ago. */
export const taggedBy = Effect.fnUntraced(function*(tag: string, accounts: ReadonlyArray<bigint>, daysAgo = 0) {
  const sql = yield* SqlClient.SqlClient
  const day = new Date((yield* Clock.currentTimeMillis) - daysAgo * 86_400_000).toISOString().slice(0, 10)
  yield* sql`INSERT INTO tag_days (tag_id, day, account_id)
    SELECT t.id, ${day}::date, a FROM tags t, unnest(${accounts}::bigint[]) a WHERE t.name = ${tag}
    ON CONFLICT (tag_id, day, account_id) DO UPDATE SET uses = tag_days.uses + 1`
})

/** Inserts a fetched page with all metadata, linked to by a public post of each account; returns its card's id. */
export const linkedBy = Effect.fnUntraced(function*(url: string, accounts: ReadonlyArray<bigint>, language = "en") {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const details = yield* PersistedCard.encode({
    ...plainCard,
    title: "A page",
    description: "of some kind",
    providerName: "The site",
    language
  })
  const [card] = yield* sql<{ readonly id: bigint }>`
    INSERT INTO preview_cards (id, url_key, url, site, fetched_at, details, image_name, created_at)
    VALUES (next_id(${now}), ${hashedKey(url)}, ${url}, ${new URL(url).hostname}, ${new Date(
    now
  )}, ${details}::jsonb, 'x.png',
      ${new Date(now)})
    ON CONFLICT (url_key) DO UPDATE SET url = excluded.url RETURNING id`
  yield* sql`WITH made AS (
      INSERT INTO statuses (id, account_id, uri, local, visibility, conversation_id, created_at)
      SELECT next_id(${now}), a, 'https://posts.test/' || ${
    String(card?.id)
  } || '/' || a, false, 'public', 1, ${new Date(now)}
      FROM unnest(${accounts}::bigint[]) a RETURNING id),
    stats AS (INSERT INTO status_stats (status_id) SELECT id FROM made)
    INSERT INTO status_cards (status_id, card_id, url) SELECT id, ${card?.id ?? 0n}, ${url} FROM made`
  return card?.id ?? 0n
})

/** Makes every status trend, with or without approval, and a link that is in all of them. */
export const allTrends = Effect.fnUntraced(function*(address: string) {
  const sql = yield* SqlClient.SqlClient
  const at = new Date(yield* Clock.currentTimeMillis)
  yield* sql`UPDATE accounts SET discoverable = true, trendable = true`
  yield* sql`INSERT INTO status_trends (status_id, score) SELECT id, 9 FROM statuses`
  yield* sql`INSERT INTO preview_cards (id, url_key, url, site, details, trendable, created_at) VALUES (1, ${
    hashedKey(address)
  }, ${address}, ${new URL(address).hostname}, ${yield* PersistedCard.encode(plainCard)}::jsonb, true, ${at})`
  yield* sql`INSERT INTO card_trends (card_id, score, max_score, max_score_at) VALUES (1, 9, 9, ${at})`
  yield* sql`INSERT INTO status_cards (status_id, card_id, url)
    SELECT id, 1, ${address} FROM statuses WHERE reblog_of_id IS NULL`
})

/** Recomputes trends, regardless of when they were last computed. */
export const refreshTrends = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM chores WHERE name <> 'e-mails about trends'`
  const { run } = yield* Effect.provide(
    TrendRefresh,
    TrendRefresh.layer.pipe(
      Layer.provide(Layer.succeed(ServerConfig, configurationOf("here.test")))
    )
  )
  return yield* run
})
