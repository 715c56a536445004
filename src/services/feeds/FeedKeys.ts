import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../database/Ids.ts"
import { idRows } from "../database/Rows.ts"
import { type FeedKey, listFeed } from "./Feeds.ts"

/** Returns the feed keys of accounts: their homes and lists. */
export const feedsOf = (
  sql: SqlClient,
  accounts: ReadonlyArray<bigint>
): Effect.Effect<ReadonlyArray<FeedKey>, SqlError> =>
  accounts.length === 0
    ? Effect.succeed([])
    : Effect.map(
      idRows(sql`SELECT id FROM lists WHERE account_id = ANY (${accounts}::bigint[])`),
      (lists) => [...accounts.map((id) => AccountId.make(id)), ...lists.map(({ id }) => listFeed(id))]
    )
