import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import * as CommandPlan from "./CommandPlan.ts"
import { hasConsents } from "./ConsentPlan.ts"
import type { AtStep } from "./FaultPlan.ts"
import type { Machine } from "./Machine.ts"
import { Dice } from "./Seeded.ts"
import type { Side, Step } from "./World.ts"

/** Maximum targeted faults of a seed, which strike between a command's commit and its effects. */
export const faultsMax = 6

/** Tags of commands; `Transfer` is a step of an import. */
export type Tags = ReadonlyArray<Command["_tag"] | "Transfer">

/** Commands whose commits have similar effects. */
const publishCommands: Tags = ["Publish", "Reblog", "Edit"]
const undoCommands: Tags = ["Unfavourite", "Unreblog", "Delete"]
const unfollowCommands: Tags = ["Unfollow", "Block", "RemoveFollower", "RejectFollow", "Mute"]
const followCommands: Tags = ["Follow", "AuthorizeFollow", "FollowTag", "Favourite", "Report"]
const scheduleCommands: Tags = ["Schedule"]
const rescheduleCommands: Tags = ["Reschedule", "CancelScheduled"]
const consentCommands: Tags = ["AuthorizeInteraction", "RejectInteraction", "RevokeQuote"]
const votingCommands: Tags = ["Vote", "Favourite"]
const moderationCommands: Tags = ["Moderate"]

/** Returns the target commands of a seed, by its theme. */
const targetsOf = (seed: number): ReadonlyArray<Tags> =>
  hasConsents(seed)
    ? [publishCommands, consentCommands, consentCommands, votingCommands, moderationCommands]
    : CommandPlan.lateMillis(seed) > 0
    ? [scheduleCommands, scheduleCommands, rescheduleCommands, publishCommands, undoCommands]
    : [publishCommands, publishCommands, undoCommands, undoCommands, unfollowCommands, followCommands]

/** Weighted steps that faults target, with their maximum number; the effects of a commit start with it. */
const steps: ReadonlyArray<readonly [weight: number, step: { readonly step: Step; readonly nthMax: number }]> = [
  [4, { step: "commit", nthMax: 1 }],
  [4, { step: "effect", nthMax: 2 }],
  [5, { step: "feeds", nthMax: 1 }],
  [2, { step: "write", nthMax: 2 }]
]
/** Steps at which a connection can break while its machine lives. */
const cuttableSteps: ReadonlySet<Step> = new Set(["commit", "write"])

/** Returns the targeted faults of a seed. */
export const plan = (seed: number): ReadonlyArray<AtStep> => {
  const dice = new Dice(seed, "pointed")
  return Array.from({ length: faultsMax }, (): AtStep => {
    const commands = dice.pick(targetsOf(seed))
    const { nthMax, step } = dice.weighted(steps)
    // A transaction that crashes before its commit has no effects.
    const side: Side = step === "commit" || dice.chance(0.2) ? "after" : "before"
    const kind = dice.weighted<AtStep["kind"]>([[6, "crash"], [cuttableSteps.has(step) ? 4 : 0, "cut"], [1, "freeze"]])
    return {
      kind,
      port: 0,
      at: 0,
      step,
      nth: dice.between(1, nthMax + 1),
      of: { commands, nth: dice.between(1, commands === scheduleCommands ? 2 : 4) },
      side,
      millis: kind === "cut" ? 0 : dice.between(500, 4_000)
    }
  })
}

/** Faults at the steps of transfers, in seeds with transfers: single ones, and two that strike the same transfer. */
const singleTransferFaults = 4
export const transferFaultsMax = singleTransferFaults + 2
/** Freeze in which another node takes over the transfer, in milliseconds: a lease lasts two minutes. */
const leaseFreezeMillis = { min: 125_000, max: 180_000 }
/** Time after which the lease of a frozen node is the next one to end, in milliseconds. */
const takeoverMillis = 115_000

/**
 * Returns the faults of a seed at the steps of its transfers: at a statement of one, at its commit, or just after. Then a
 * node freezes between two steps for longer than its lease, and the next node dies while the transfer is its own.
 */
export const ofTransfers = (seed: number): ReadonlyArray<AtStep> => {
  const dice = new Dice(seed, "faults of transfers")
  const single = Array.from({ length: singleTransferFaults }, (): AtStep => {
    const step = dice.weighted<Step>([[4, "sql"], [3, "commit"], [1, "effect"]])
    return {
      kind: dice.weighted<AtStep["kind"]>([[4, "crash"], [step === "effect" ? 0 : 1, "cut"]]),
      port: 0,
      at: 0,
      step,
      nth: step === "sql" ? dice.between(1, 8) : 1,
      of: { commands: ["Transfer"], nth: dice.between(1, 30) },
      side: dice.pick(["before", "after"]),
      millis: dice.between(500, 4_000)
    }
  })
  const afterCommit = (nthMax: number) =>
    ({
      port: 0,
      step: "commit",
      nth: 1,
      side: "after",
      of: { commands: ["Transfer"], nth: dice.between(1, nthMax) }
    }) as const
  return [
    ...single,
    {
      ...afterCommit(12),
      kind: "freeze",
      at: 0,
      millis: dice.between(leaseFreezeMillis.min, leaseFreezeMillis.max)
    },
    { ...afterCommit(4), kind: "crash", at: takeoverMillis, millis: dice.between(500, 4_000) }
  ]
}

/** Tracks which machine each targeted fault waits for. */
export class Aim {
  private readonly seen = new Map<AtStep, number>()
  private readonly machines = new Map<AtStep, Machine>()

  /** Called when a machine is about to commit a command; `commandId` starts with its tag. */
  performed(faults: Iterable<AtStep>, machine: Machine, commandId: string) {
    for (const fault of faults) {
      const { of } = fault
      if (of === undefined || this.machines.has(fault) || !of.commands.some((tag) => commandId.startsWith(`${tag}:`))) {
        continue
      }
      const times = (this.seen.get(fault) ?? 0) + 1
      this.seen.set(fault, times)
      if (times === of.nth) this.machines.set(fault, machine)
    }
  }

  isAt(fault: AtStep, machine: Machine) {
    return this.machines.get(fault) === machine
  }
}
