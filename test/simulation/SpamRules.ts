import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import type { Aftermath } from "./Invariants.ts"
import type { Performed } from "./Performed.ts"
import { Dice } from "./Seeded.ts"

/** The only spam rule, and the word that it matches. */
export const ruleId = 1n
export const word = "buy"

type Action = "report" | "limit" | "hold" | "drop"

/** Returns the action of a seed's spam rule; undefined if it has no rule. */
export const actionOf = (seed: number): Action | undefined => {
  const dice = new Dice(seed, "spam")
  if (dice.chance(0.4)) return dice.pick<Action>(["report", "limit", "drop"])
  return new Dice(seed, "holding").chance(0.3) ? "hold" : undefined
}

/** Returns true if the rule matches a command's post. */
export const isSpam = (command: Command | undefined): command is Extract<Command, { readonly _tag: "Publish" }> =>
  command?._tag === "Publish" && command.post.text.startsWith(word)

export const insert = Effect.fnUntraced(function*(seed: number, at: Date) {
  const sql = yield* SqlClient.SqlClient
  const action = actionOf(seed)
  if (action === undefined) return
  yield* sql`INSERT INTO spam_rules (id, place, name, state, action, score, conditions, created_at, updated_at)
    VALUES (${ruleId}, 1, 'offers', 'on', ${action}, 0, ${JSON.stringify({ textWords: [word] })}::jsonb, ${at}, ${at})`
})

interface Account {
  readonly id: bigint
  readonly hits: number
  readonly limited: boolean
  readonly strikes: number
}

/**
 * I30: a spam rule counts each matching post once, limits an account once, with one strike, and refused posts do not
 * exist.
 */
export const check = Effect.fnUntraced(function*(
  { people, shared: { sql }, world }: Aftermath,
  performed: ReadonlyArray<Performed>,
  commandOf: ReadonlyMap<string, Command>
) {
  const action = actionOf(world.seed)
  if (action === undefined) return []
  const broken: Array<string> = []
  const accounts = yield* sql<Account>`SELECT a.id, a.silenced_at IS NOT NULL AS limited,
      (SELECT count(*)::int FROM spam_hits h WHERE h.account_id = a.id) AS hits,
      (SELECT count(*)::int FROM account_warnings s WHERE s.target_account_id = a.id) AS strikes
    FROM accounts a ORDER BY a.id`
  const [{ taken } = { taken: 0 }] = yield* sql<{ taken: number }>`SELECT count(*)::int AS taken FROM statuses
    WHERE text LIKE ${`${word} %`}`
  const found = new Map<bigint, number>()
  for (const { accountId, commandId } of performed) {
    const command = commandId === null ? undefined : commandOf.get(commandId)
    if (!isSpam(command)) continue
    world.count(`spam ${action}`)
    found.set(accountId, (found.get(accountId) ?? 0) + 1)
  }
  if (action === "drop" && taken > 0) broken.push(`I30: ${taken} posts exist that the rule refuses`)
  for (const { hits, id, limited, strikes } of accounts.filter(({ id }) => people.some((one) => one === id))) {
    const wanted = found.get(id) ?? 0
    if (hits !== wanted) broken.push(`I30: ${hits} hits of ${id}, not ${wanted}`)
    const isLimited = action === "limit" && wanted > 0
    if (limited !== isLimited) broken.push(`I30: ${id} is ${limited ? "" : "not "}limited`)
    if (strikes !== (isLimited ? 1 : 0)) broken.push(`I30: ${strikes} strikes against ${id}`)
  }
  return broken
})
