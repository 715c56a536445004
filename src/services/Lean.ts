import { Context } from "effect"

/*
 * Adding to a context copies it, several times for every request, command and transaction. This program has some sixty
 * services, which their users take once; so code that runs often does not carry them along.
 */

/** This program's services, and those of effect that only they use. */
const unneeded = /^(?:murmuration\/|@effect\/sql|effect\/(?:crypto|process|sql)\/|effect\/Terminal$|~effect\/Stdio$)/

/**
 * What of a context is not a service of this program: settings of fibers, and what effect itself looks for. `besides`
 * tells the names of more that is not needed.
 */
export const lean = <Services>(context: Context.Context<Services>, besides?: RegExp): Context.Context<Services> =>
  Context.makeUnsafe(
    new Map(Array.from(context.mapUnsafe).filter(([key]) => !unneeded.test(key) && besides?.test(key) !== true))
  )
