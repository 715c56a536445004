import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/services/Ids.ts"
import { families } from "../../src/services/intents/Commands.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

/** Posts that accounts near their limit have left. */
const leftMax = 4

/** Beginning of the ids of commands that were done before the run. */
export const earlier = "earlier:"

/** In some seeds several accounts have used up almost all of their posts; undefined in the others. */
const leftIn = (seed: number) => {
  const dice = new Dice(seed, "limits")
  return dice.chance(0.25) ? dice.between(1, leftMax + 1) : undefined
}

/** Inserts commands of the last minute, as if these accounts had posted so often. */
export const insert = Effect.fnUntraced(function*(seed: number, people: ReadonlyArray<AccountId>, at: Date) {
  const left = leftIn(seed)
  if (left === undefined) return
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
    SELECT a, ${earlier} || n, '{}', 'statuses', 0, ${at}
    FROM unnest(${people.slice(0, 3)}::bigint[]) a, generate_series(1, ${families.statuses.uses - left}) n`
})

/** I33: an account uses a limit up to its bound and not beyond, whichever node it asks. */
export const check = Effect.fnUntraced(function*(world: World, { sql }: Shared) {
  if (leftIn(world.seed) === undefined) return []
  const rows = yield* sql<{ accountId: bigint; uses: number }>`SELECT account_id, count(*)::int AS uses FROM commands
    WHERE family = 'statuses' GROUP BY account_id ORDER BY account_id`
  for (const { uses } of rows) if (uses === families.statuses.uses) world.count("limit reached")
  return rows.flatMap(({ accountId, uses }) =>
    uses > families.statuses.uses
      ? [`I33: ${accountId} has posted ${uses} times, ${families.statuses.uses} at most`]
      : []
  )
})
