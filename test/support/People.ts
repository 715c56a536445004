import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../src/services/database/Ids.ts"

/** Inserts a local, confirmed, recently active account without a password, as after a sign-up. */
export const person = Effect.fnUntraced(function*(username: string, settings: {
  readonly locked?: boolean
  readonly seenAt?: number
} = {}) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const at = new Date(now)
  const [row] = yield* sql<{ id: bigint }>`
    INSERT INTO accounts (id, username, locked, created_at, updated_at)
    VALUES (next_id(${now}), ${username}, ${settings.locked ?? false}, ${at}, ${at}) RETURNING id`
  const id = row!.id
  yield* sql`INSERT INTO actors (account_id) VALUES (${id})`
  yield* sql`INSERT INTO account_stats (account_id) VALUES (${id})`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, last_seen_at, created_at)
    VALUES (${id}, ${`${username}@example.test`}, '', ${at}, ${new Date(settings.seenAt ?? now)}, ${at})`
  return AccountId.make(id)
})

/** Inserts rows that make all `ids` follow `target`, without notifications. */
export const followers = Effect.fnUntraced(function*(target: AccountId, ids: ReadonlyArray<AccountId>) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
    SELECT next_id(${now}), f, ${target}, ${new Date(now)} FROM unnest(${ids}::bigint[]) f`
  yield* sql`UPDATE account_stats SET following_count = following_count + 1 WHERE ${sql.in("account_id", ids)}`
  yield* sql`UPDATE account_stats SET followers_count = followers_count + ${ids.length} WHERE account_id = ${target}`
})

/** Makes accounts accept private mentions of strangers without a notification request. */
export const acceptPrivateMentions = Effect.fnUntraced(
  function*(...accounts: ReadonlyArray<{ readonly accountId: bigint }>) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO notification_policies (account_id, private_mentions)
    SELECT id, 'accept' FROM unnest(${accounts.map(({ accountId }) => accountId)}::bigint[]) id`
  }
)
