import type { OnceBroken } from "../OnceBroken.ts"

/** Seeds that broke once. The faults that they found have their own tests, with the same number (F44). */
export const onceBroken: ReadonlyArray<OnceBroken> = [
  { seed: 910_012, what: "a late boost replaced the next one" },
  { seed: 910_022, what: "an edit of a direct post removed all mentions" },
  { seed: 515, what: "the Undo of a boost was sent again, after the next boost" },
  { seed: 910_004, what: "a voter was blocked later, and the vote stayed on both sides" },
  { seed: 900_007, what: "an unavailable key origin delayed all activities of a server" },
  { seed: 900_055, what: "a block that arrived after a later follow ended it on one side only" },
  { seed: 900_063, what: "a like was in flight when the post's author blocked its sender" },
  { seed: 1_310_169, what: "a post was fetched while its delivery was pending, and was deleted" },
  {
    seed: 1_310_152,
    what: "an edit that removed all mentions overtook its post",
    shortest: { commands: [37, 38, 42], faults: [3, 9] }
  },
  {
    seed: 910_187,
    what: "an edit overtook its post, whose fan-out had failed",
    shortest: { commands: [34, 35], faults: [4, 5] }
  },
  {
    seed: 159,
    what: "a profile that changed again while it was fetched stayed stale",
    shortest: { commands: [7, 8, 15, 36, 45], faults: [7] }
  }
]
