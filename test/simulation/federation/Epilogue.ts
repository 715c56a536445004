import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Command } from "../../../src/actors/account/core/Protocol.ts"
import { Dice } from "../Seeded.ts"
import { blockedPairsOf, relations } from "./Agreement.ts"
import * as Atlas from "./Atlas.ts"
import type * as Clients from "./Clients.ts"
import * as Defederating from "./Defederating.ts"
import * as FaultPlan from "./FaultPlan.ts"
import * as Faults from "./Faults.ts"
import * as Separating from "./Separating.ts"
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
  [mover, target]: readonly [Clients.Citizen, Clients.Citizen],
  apart: ReadonlySet<string>,
  before: ReadonlyArray<Atlas.ServerState>,
  after: ReadonlyArray<Atlas.ServerState>
) => {
  const broken: Array<string> = []
  for (const [n, { follows, host, requests }] of after.entries()) {
    for (const pair of before[n]?.follows ?? []) {
      const [follower = "", followed] = pair.split(" ")
      const isHere = follower.endsWith(`@${host}`)
      if (followed !== mover.handle || !isHere || follower === target.handle) continue
      if (apart.has(pairOf(follower, target.handle)) || apart.has(pairOf(follower, mover.handle))) continue
      const next = pairOf(follower, target.handle)
      if (!follows.has(next) && !requests.has(next)) broken.push(`I7: ${host} does not take ${follower} along`)
      if (follows.has(pair)) broken.push(`I7: ${follower} still follows ${mover.handle}, who moved`)
    }
  }
  return broken
}

/** Checks that no follows remain between a blocked domain and the account that blocks it, on both sides. */
const parted = (by: Clients.Citizen, domain: string, after: ReadonlyArray<Atlas.ServerState>) =>
  after.flatMap(({ follows, host, requests }) =>
    [...follows, ...requests].filter((pair) =>
      pair.split(" ").some((handle) => handle === by.handle) &&
      pair.split(" ").some((one) => one.endsWith(`@${domain}`))
    ).map((pair) => `I11: the follow ${pair} at ${host} stands over a block of ${domain}`)
  )

/** Moves an account or blocks a server while processes die; returns the missing effects. */
export const run = Effect.fnUntraced(function*(
  universe: Universe,
  citizens: ReadonlyArray<Clients.Citizen>,
  clients: ReturnType<typeof Clients.make>,
  rest: Effect.Effect<void, SqlError>
) {
  const { seed, sites, wrong } = universe
  const act = actOf(seed)
  if (act === undefined) return []
  if (act === "separation") return yield* Separating.run(universe, citizens, clients, rest)
  const dice = new Dice(seed, "epilogue's people")
  const by = dice.pick(citizens)
  const other = citizens.find((one) => one.site === by.site && one !== by)
  const elsewhere = dice.pick(sites.filter((site) => site !== by.site))
  if (act === "domain suspension") return yield* Defederating.run(universe, [by.site, elsewhere.host], rest)
  if (other === undefined) return []
  const known = wrong.length
  const tell = (n: number, who: Clients.Citizen, command: Command) => clients.tell(firstNumber + n, who, command)
  if (act === "move") {
    yield* tell(0, other, { _tag: "Alias", uri: `https://${by.site.host}/users/${by.name}`, present: true })
    yield* rest
  }
  const before = yield* Effect.forEach(sites, Atlas.load)
  const over = yield* Faults.injectFaults(universe, FaultPlan.epilogue(seed, sites.length))
  const result = yield* tell(
    1,
    by,
    act === "move" ? { _tag: "Move", target: other.id } : { _tag: "BlockDomain", domain: elsewhere.host }
  )
  yield* rest
  yield* over
  yield* rest
  if (typeof result === "string" || "error" in result) return []
  universe.count(act)
  const after = yield* Effect.forEach(sites, Atlas.load)
  const broken: Array<string> = wrong.slice(known)
  for (const home of after) for (const there of after) if (home !== there) relations(broken, home, there)
  for (const { host, waiting } of after) for (const { what } of waiting) broken.push(`I16: ${what} is left at ${host}`)
  const apart = blockedPairsOf(clients.deeds)
  return [...broken, ...act === "move" ? moved([by, other], apart, before, after) : parted(by, elsewhere.host, after)]
})
