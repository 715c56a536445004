import type { OnceBroken } from "../OnceBroken.ts"

/** Seeds that broke once. The faults that they found have their own tests, with the same number (F44). */
export const onceBroken: ReadonlyArray<OnceBroken> = [
  { seed: 910_012, what: "a boost that was late took the place of the one that came next" },
  { seed: 910_022, what: "an edit of a direct post named nobody any more" },
  { seed: 515, what: "the Undo of a boost was sent once more, after the boost that came next" },
  { seed: 910_004, what: "who had voted was blocked afterwards, and the vote stayed on both sides" },
  { seed: 900_007, what: "a key whose origin was away held up whatever a server had to tell" },
  { seed: 900_055, what: "a block that came after a later follow ended it here and not there" },
  { seed: 900_063, what: "a like was on its way when its author blocked who liked" },
  { seed: 1_310_169, what: "a post was fetched while its delivery waited, and deleted" },
  {
    seed: 1_310_152,
    what: "an edit that named nobody any more overtook its post",
    shortest: { commands: [37, 38, 42], faults: [3, 9] }
  },
  {
    seed: 910_187,
    what: "an edit overtook its post, whose fan-out had failed",
    shortest: { commands: [34, 35], faults: [4, 5] }
  },
  {
    seed: 159,
    what: "a profile that changed once more while it was fetched stayed as it was before",
    shortest: { commands: [7, 8, 15, 36, 45], faults: [7] }
  }
]
