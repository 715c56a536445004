import type { Settings } from "./Fleet.ts"

/** A seed that broke once, and what happened in it. */
export interface OnceBroken {
  readonly seed: number
  readonly what: string
  /** Settings of the run besides its seed. */
  readonly given?: Pick<Settings, "talks">
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
    what: "people talk, and who was suspended and is not lacked its own posts at home",
    given: { talks: true },
    shortest: { commands: [0, 1, 2, 3, 13, 18, 22, 37, 38], faults: [] }
  },
  {
    seed: 4_000_608,
    breaks: "I25",
    what: "who decides about a reply likes it before, of which its author is told",
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
    what: "effect does not end an actor of a node that stood still, which has to give up its shard"
  },
  {
    seed: 40_006,
    breaks: "I18",
    what: "a node died between the commit of a suspension and its message, and streams stayed open (F248)"
  }
]
