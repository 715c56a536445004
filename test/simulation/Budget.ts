/*
 * Simulation runs of the test suite: seeds that cover every kind of fault, and for each invariant a bug that a short
 * run finds. `npm run simulate:nightly` looks for all bugs, and runs 10,000 seeds.
 */

/**
 * Seeds that together cover every kind of fault. 22, the first, has media and most faults that a node can have. 44, 34
 * and 40006 are about consent, polls and moderators; 34 also loses all feeds. 26 only loses responses of commits.
 * 12 imports lists and posts.
 */
export const seeds = [22, 44, 47, 34, 26, 40_006, 12] as const

/** A seed with overlapping transactions. */
export const overlappingSeeds = [1]

/** Seeds of federating servers that cover every kind of fault. */
export const federationSeeds = [1_500_027, 18, 1_500_016] as const

/** Bugs by name. */
export const bugs: ReadonlySet<string> = new Set([
  "a file is stored a second before its row is inserted",
  "a follow is checked before the newest block is committed",
  "a command begins after its client got 503",
  "a single-statement command is not deduplicated",
  "single-statement commands do not check the owner's epoch",
  "an actor does not reload its rows after a commit of unknown outcome",
  "a filtered notification is streamed",
  "a filtered notification is pushed",
  "changed filters stay cached",
  "the cursor is committed before the slice",
  "nodes are notified of changed filters before the commit",
  "an intent is completed before its feeds are written",
  "a removed favourite is uncounted after the commit",
  "the timer of a scheduled status is set after the commit",
  "a takeover does not wait for a running transaction",
  "votes are counted outside of the transaction",
  "counters are read, then written",
  "counters are locked in arbitrary order",
  "rows of a bounded table are counted without a lock",
  "every viewer of a post may quote it",
  "a pending reply is public",
  "voters are not notified of a poll's end",
  "posts of suspended accounts are shown",
  "an approved post is published again",
  "a held post is published before its review",
  "a step of an import commits its progress before its writes"
])

/** Bugs of federating servers, by name. */
export const federationBugs: ReadonlySet<string> = new Set([
  "deliveries about one object overtake each other (I6)",
  "reports of a server are identified by its actor (I7)",
  "followers-only posts are delivered to all known servers (I11)",
  "a delivery without a response counts as done (I5)",
  "inbound activities are processed without an ownership check (I13)",
  "quotes pass a block (I11)"
])
