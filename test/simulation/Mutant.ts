import type { BugSearch } from "./BugSearches.ts"
import type { Planted } from "./Sources.ts"
import type { Mutation } from "./World.ts"

/** A deliberate bug in the program. */
export interface Mutant extends BugSearch {
  readonly name: string
  readonly mutation: Mutation
  /** A bug in the program's source, used instead of the mutation. */
  readonly planted?: Planted
  /** The bug needs overlapping transactions. */
  readonly overlapping?: true
  /** The bug needs nodes that freeze during media jobs, as in `Options`. */
  readonly standstills?: true
  /** The bug needs consent, polls and moderators, as in `Options`. */
  readonly consents?: true
  /** The bug needs imports, as in `Options`; other bugs are searched without them. */
  readonly transfers?: true
}
