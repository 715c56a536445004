import type { Settings } from "./Fleet.ts"

/** A seed that broke once, and what happened in it. */
export interface OnceBroken {
  readonly seed: number
  readonly what: string
  /** Settings of the run besides its seed. */
  readonly given?: Pick<Settings, "consents">
  /** Minimal failing part. The suite runs this, the nightly run all of it. */
  readonly shortest?: Pick<Settings, "commands" | "faults">
}

/** Seeds of one server that broke once; `breaks` is the invariant that did not hold. */
export const onceBroken: ReadonlyArray<OnceBroken & { readonly breaks: string }> = [
  {
    seed: 1_600_003,
    breaks: "I3",
    what: "a block took a reply out of its thread after it was pushed",
    shortest: { commands: [0, 8, 12, 13, 27, 31, 34], faults: [0] }
  },
  {
    seed: 3,
    breaks: "I3",
    what: "with consent and moderation, a home lacked its owner's own posts after the owner's suspension was lifted",
    given: { consents: true },
    shortest: { commands: [0, 1, 2, 3, 13, 18, 22, 37, 38], faults: [] }
  },
  {
    seed: 4_000_608,
    breaks: "I25",
    what: "the approver of a reply liked it before the approval, and its author was notified",
    shortest: { commands: [0, 1, 2, 7, 24], faults: [] }
  },
  {
    seed: 158,
    breaks: "I33",
    what: "the response of a commit was lost, and its post did not count towards the limit (F160)",
    shortest: { commands: [2, 6, 13, 15, 19], faults: [0] }
  },
  {
    seed: 4_001_266,
    breaks: "I2",
    what: "Effect does not end an actor of a frozen node that has to release its shard"
  },
  {
    seed: 40_006,
    breaks: "I18",
    what: "a node died between the commit of a suspension and its message, and streams stayed open (F248)"
  }
]
