import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { families } from "../../src/services/intents/Commands.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

/** Maximum number of posts that accounts near their limit have left. */
const leftMax = 4

/** Prefix of the ids of commands from before the run. */
export const earlier = "earlier:"

/** Returns the number of posts that several accounts have left in some seeds; undefined in the others. */
const leftIn = (seed: number) => {
  const dice = new Dice(seed, "limits")
  return dice.chance(0.25) ? dice.between(1, leftMax + 1) : undefined
}

/** Inserts commands of the last minute, as if these accounts had posted them. */
export const insert = Effect.fnUntraced(function*(seed: number, people: ReadonlyArray<AccountId>, at: Date) {
  const left = leftIn(seed)
  if (left === undefined) return
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
    SELECT a, ${earlier} || n, '{}', 'statuses', 0, ${at}
    FROM unnest(${people.slice(0, 3)}::bigint[]) a, generate_series(1, ${families.statuses.uses - left}) n`
})

/** I33: an account can use its whole limit and no more, through any nodes. */
export const check = Effect.fnUntraced(function*(world: World, { sql }: Shared) {
  if (leftIn(world.seed) === undefined) return []
  const rows = yield* sql<{ accountId: bigint; uses: number }>`SELECT account_id, count(*)::int AS uses FROM commands
    WHERE family = 'statuses' GROUP BY account_id ORDER BY account_id`
  for (const { uses } of rows) if (uses === families.statuses.uses) world.count("limit reached")
  return rows.flatMap(({ accountId, uses }) =>
    uses > families.statuses.uses
      ? [`I33: ${accountId} has posted ${uses} times, more than ${families.statuses.uses}`]
      : []
  )
})
