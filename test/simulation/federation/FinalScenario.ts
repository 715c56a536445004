import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"
import { Dice } from "../Seeded.ts"
import { blockedPairsOf, relations } from "./Agreement.ts"
import * as BlockScenario from "./BlockScenario.ts"
import type * as Clients from "./Clients.ts"
import * as DomainSuspension from "./DomainSuspension.ts"
import * as FaultPlan from "./FaultPlan.ts"
import * as Faults from "./Faults.ts"
import * as ServerStates from "./ServerStates.ts"
import type { Universe } from "./Universe.ts"

/* Moves and domain blocks. They would disturb other comparisons, so they come last, with their own faults. */

type Act = "move" | "domain block" | "domain suspension" | "separation"

/** Returns the last action of a seed, if it has one. */
const actOf = (seed: number): Act | undefined =>
  new Dice(seed, "epilogue").pick(["move", "domain block", "domain suspension", "separation", undefined])

/** First number of the final commands. */
const firstNumber = 2_000

const pairOf = (from: string, to: string) => `${from} ${to}`

/**
 * Checks that all followers of a moved account follow the new one, with one notification; blocked accounts stay behind.
 */
const moved = (
  [mover, target]: readonly [Clients.User, Clients.User],
  blockedPairs: ReadonlySet<string>,
  before: ReadonlyArray<ServerStates.ServerState>,
  after: ReadonlyArray<ServerStates.ServerState>
) => {
  const broken: Array<string> = []
  for (const [n, { follows, host, requests }] of after.entries()) {
    for (const pair of before[n]?.follows ?? []) {
      const [follower = "", followed] = pair.split(" ")
      const isHere = follower.endsWith(`@${host}`)
      if (followed !== mover.handle || !isHere || follower === target.handle) continue
      if (blockedPairs.has(pairOf(follower, target.handle)) || blockedPairs.has(pairOf(follower, mover.handle))) {
        continue
      }
      const next = pairOf(follower, target.handle)
      if (!follows.has(next) && !requests.has(next)) broken.push(`I7: ${host} does not move ${follower}`)
      if (follows.has(pair)) broken.push(`I7: ${follower} still follows ${mover.handle}, who moved`)
    }
  }
  return broken
}

/** Checks that no follows remain between a blocked domain and the account that blocks it, on both sides. */
const followsAcrossBlock = (by: Clients.User, domain: string, after: ReadonlyArray<ServerStates.ServerState>) =>
  after.flatMap(({ follows, host, requests }) =>
    [...follows, ...requests].filter((pair) =>
      pair.split(" ").some((handle) => handle === by.handle) &&
      pair.split(" ").some((one) => one.endsWith(`@${domain}`))
    ).map((pair) => `I11: the follow ${pair} at ${host} exists despite a block of ${domain}`)
  )

/** Moves an account or blocks a server while processes die; returns the missing effects. */
export const run = Effect.fnUntraced(function*(
  universe: Universe,
  users: ReadonlyArray<Clients.User>,
  clients: ReturnType<typeof Clients.make>,
  drain: Effect.Effect<void, SqlError>
) {
  const { seed, sites, wrong } = universe
  const act = actOf(seed)
  if (act === undefined) return []
  if (act === "separation") return yield* BlockScenario.run(universe, users, clients, drain)
  const dice = new Dice(seed, "epilogue's people")
  const by = dice.pick(users)
  const other = users.find((one) => one.site === by.site && one !== by)
  const elsewhere = dice.pick(sites.filter((site) => site !== by.site))
  if (act === "domain suspension") return yield* DomainSuspension.run(universe, [by.site, elsewhere.host], drain)
  if (other === undefined) return []
  const known = wrong.length
  const tell = (n: number, who: Clients.User, command: Command) => clients.tell(firstNumber + n, who, command)
  if (act === "move") {
    yield* tell(0, other, { _tag: "Alias", uri: `https://${by.site.host}/users/${by.name}`, present: true })
    yield* drain
  }
  const before = yield* Effect.forEach(sites, ServerStates.load)
  const faultsOver = yield* Faults.injectFaults(universe, FaultPlan.epilogue(seed, sites.length))
  const result = yield* tell(
    1,
    by,
    act === "move" ? { _tag: "Move", target: other.id } : { _tag: "BlockDomain", domain: elsewhere.host }
  )
  yield* drain
  yield* faultsOver
  yield* drain
  if (typeof result === "string" || "error" in result) return []
  universe.count(act)
  const after = yield* Effect.forEach(sites, ServerStates.load)
  const broken: Array<string> = wrong.slice(known)
  for (const home of after) for (const there of after) if (home !== there) relations(broken, home, there)
  for (const { host, waiting } of after) for (const { what } of waiting) broken.push(`I16: ${what} is left at ${host}`)
  const blockedPairs = blockedPairsOf(clients.sentCommands)
  return [
    ...broken,
    ...act === "move" ? moved([by, other], blockedPairs, before, after) : followsAcrossBlock(by, elsewhere.host, after)
  ]
})
