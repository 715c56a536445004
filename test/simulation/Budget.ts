/*
 * Simulation runs of the test suite: seeds that cover every kind of fault, and for each invariant a bug that a short
 * run finds. `npm run simulate:nightly` looks for all bugs, and runs 10,000 seeds.
 */

/**
 * Seeds that together cover every kind of fault. 22, the first, has media and most faults that a node can have. 44, 34
 * and 40006 are about consent, polls and moderators; 34 also loses all feeds. 26 only loses responses of commits.
 */
export const seeds = [22, 44, 47, 34, 26, 40_006] as const

/** A seed with overlapping transactions. */
export const overlappingSeeds = [1]

/** Seeds of federating servers that cover every kind of fault. */
export const federationSeeds = [1_500_027, 18, 1_500_016] as const

/** Bugs by name. */
export const bugs: ReadonlySet<string> = new Set([
  "a file is stored a second before its row is there",
  "a follow is checked before the newest block is committed",
  "a command begins after its client was told 503",
  "a command as one statement is not looked up",
  "the owner's epoch is not checked by commands as one statement",
  "an actor does not look for rows after a commit of unknown outcome",
  "a notification that waits is streamed",
  "a notification that waits is pushed",
  "nobody forgets filters that were changed",
  "the cursor is committed before the slice",
  "nodes hear of changed filters before the commit",
  "an intent is completed before its feeds are written",
  "a favourite that was taken back is counted later",
  "the timer of a scheduled status is set after the commit",
  "a takeover is not held off by a running transaction",
  "votes are counted outside of the transaction",
  "counters are read and then written",
  "counters are locked in no order",
  "rows of a bounded table are counted without a lock",
  "whoever sees a post may quote it",
  "a reply that waits is shown to everybody",
  "who voted is not told that a poll ended",
  "posts of who is suspended are shown",
  "a held post that was approved is published again",
  "a held post is published before its review"
])

/** Bugs of federating servers, by name. */
export const federationBugs: ReadonlySet<string> = new Set([
  "deliveries about one thing overtake each other (I6)",
  "reports of one server are told apart by its actor (I7)",
  "what is for followers leaves for everybody whom its author knows (I11)",
  "a delivery of which nothing was heard counts as made (I5)",
  "who does what an account sent does not ask who owns it (I13)",
  "quotes come over a block (I11)"
])
