import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/database/Ids.ts"
import type { RepliesPolicy } from "../../src/services/social/OwnedLists.ts"
import type { Dice } from "./Seeded.ts"

/** Hashtag of the posts. */
export const tagName = "birds"

/** A list that exists from the start. */
export interface List {
  readonly id: bigint
  readonly accountId: AccountId
  readonly repliesPolicy: RepliesPolicy
  readonly exclusive: boolean
  readonly members: ReadonlyArray<AccountId>
  /** True if the hashtag is a member. */
  readonly tagged: boolean
}

/** Draws a few lists for a few people. */
export const draw = (dice: Dice, people: ReadonlyArray<AccountId>): ReadonlyArray<List> =>
  people.slice(0, 3).filter(() => dice.chance(0.6)).map((accountId, n) => ({
    id: BigInt(n + 1),
    accountId,
    repliesPolicy: dice.pick(["followed", "list", "none"] as const),
    exclusive: dice.chance(0.4),
    members: people.filter((member) => member !== accountId && dice.chance(0.4)),
    tagged: dice.chance(0.3)
  }))

export const insert = Effect.fnUntraced(function*(lists: ReadonlyArray<List>, at: Date) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (1, ${tagName}, ${tagName}, ${at})`
  for (const { accountId, exclusive, id, members, repliesPolicy, tagged } of lists) {
    yield* sql`INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
      VALUES (${id}, ${accountId}, 'people', ${repliesPolicy}, ${exclusive})`
    yield* sql`INSERT INTO list_accounts (id, list_id, account_id)
      SELECT ${id}::bigint * 100 + n, ${id}, m FROM unnest(${members}::bigint[]) WITH ORDINALITY AS given (m, n)`
    if (tagged) yield* sql`INSERT INTO list_tags (id, list_id, tag_id) VALUES (${id * 100n}, ${id}, 1)`
  }
})
