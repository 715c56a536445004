import type { Hunted } from "./Hunt.ts"
import type { Planted } from "./Sources.ts"
import type { Mutation } from "./World.ts"

/** A bug put into the program on purpose. */
export interface Mutant extends Hunted {
  readonly name: string
  readonly mutation: Mutation
  /** A bug in the program's source, in the place of those of the mutation. */
  readonly planted?: Planted
  /** It takes transactions that overlap. */
  readonly overlapping?: true
  /** It takes nodes that stand still in the middle of media jobs, as `Options` has it. */
  readonly standstills?: true
  /** It takes people who are asked, as `Options` has it. */
  readonly talks?: true
}
