import { Effect } from "effect"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { pair } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"
import type { Node } from "./Node.ts"
import type { Performed } from "./Performed.ts"
import { commandIdOf, type Outcome } from "./Scenario.ts"
import { Dice } from "./Seeded.ts"
import type { World } from "./World.ts"

const readsMax = 30
const readPauseMillisMax = 500

/** Reads homes and posts of suspended accounts through any node until the last commands. */
export const readRepeatedly = Effect.fnUntraced(
  function*(
    world: World,
    people: ReadonlyArray<AccountId>,
    nodes: ReadonlyArray<Node>,
    outcomes: ReadonlyArray<Outcome>
  ) {
    const dice = new Dice(world.seed, "looks")
    for (let n = 0; n < readsMax; n++) {
      yield* Effect.sleep(dice.between(100, readPauseMillisMax))
      const suspended = people.filter((account) => world.suspensions.since(account, world.time.now) !== undefined)
      if (suspended.length === 0 || nodes.length === 0) continue
      const { homes, machine, shown } = dice.pick(nodes)
      const author = dice.pick(suspended)
      const reader = dice.pick(people)
      const own = outcomes.flatMap(({ account, command, result }) =>
        account === author && command._tag === "Publish" && typeof result === "object" && "id" in result
          ? BigInt(result.id)
          : []
      )
      yield* machine.on(world.outside)(Effect.gen(function*() {
        const { read } = yield* homes.page(reader, { limit: 40 })
        for (const id of [...own, ...read]) yield* shown?.status(id, [reader, author]) ?? Effect.void
        world.count("suspended account read")
      })).pipe(Effect.timeoutOption("5 seconds"), Effect.exit)
    }
  }
)

/**
 * I18: suspensions match the committed commands, and streams of suspended accounts end at once: nodes are notified
 * before the command's response.
 */
export const check = Effect.fnUntraced(function*(
  { outcomes, shared: { sql }, world }: Aftermath,
  performed: ReadonlyArray<Performed>,
  commandOf: ReadonlyMap<string, Command>
) {
  const broken: Array<string> = []
  const suspended = new Set<bigint>()
  const acknowledged = new Map(
    outcomes.filter(({ askedAt, result }) => askedAt.length === 1 && result !== "unknown").map((one) =>
      [commandIdOf(one), one] as const
    )
  )
  const revoked = new Set(
    world.busMessages.flatMap(({ at, message }) =>
      message._tag === "Revoked" ? message.accountIds.map((account) => pair(account, BigInt(at))) : []
    )
  )
  for (const { accountId, at, commandId } of performed) {
    const command = commandId === null ? undefined : commandOf.get(commandId)
    if (commandId === null || command?._tag !== "Moderate") continue
    const isNew = command.stands && !suspended.has(accountId)
    if (command.stands) suspended.add(accountId)
    else suspended.delete(accountId)
    if (!isNew) continue
    world.count("suspended")
    const times = [...revoked].filter((key) => key.startsWith(`${accountId}>`)).map((key) => Number(key.split(">")[1]))
    if (acknowledged.has(commandId) && !times.some((time) => time >= at.getTime())) {
      broken.push(`I18: streams of the suspended ${accountId} do not end`)
    }
  }
  const rows = yield* sql<{ id: bigint }>`SELECT id FROM accounts WHERE suspended_at IS NOT NULL`
  const found = new Set(rows.map(({ id }) => id))
  for (const id of suspended) if (!found.has(id)) broken.push(`I18: ${id} is not suspended`)
  for (const id of found) if (!suspended.has(id)) broken.push(`I18: ${id} is suspended`)
  return broken
})
