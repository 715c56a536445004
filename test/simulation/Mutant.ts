import type { Planted } from "./Sources.ts"
import type { Mutation } from "./World.ts"

/** A bug put into the program on purpose, and the number of seeds, from 1 on, within which the simulation must find it. */
export interface Mutant {
  readonly name: string
  readonly mutation: Mutation
  /** A bug in the program's source, in the place of those of the mutation. */
  readonly planted?: Planted
  /** What it breaks, by the name that invariants have in the project's list. */
  readonly breaks?: RegExp
  /** It takes transactions that overlap. */
  readonly overlapping?: true
  /** It takes nodes that stand still in the middle of media jobs, as `Options` has it. */
  readonly standstills?: true
  /** It takes people who are asked, as `Options` has it. */
  readonly talks?: true
  /** The first so many commands find it, too, in the seed that is tried first. */
  readonly commands?: number
  readonly seedsMax: number
  /** The seed that found it last, which is tried first. */
  readonly foundAt: number
}
