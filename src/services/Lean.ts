import { Context } from "effect"

/*
 * Adding to a context copies it, several times for every request, command and transaction. This program has some sixty
 * services, which their users take once; so code that runs often does not carry them along.
 */

/** This program's services, and those of effect that only they use. */
const unneeded =
  /^(?:murmuration\/|@effect\/sql|effect\/(?:cluster|crypto|process|sql)\/|effect\/Terminal$|~effect\/Stdio$)/

/**
 * A context with fibers' settings, what effect itself looks for, and the services that `kept` names. Its type promises the
 * latter only, so that what asks for another service does not compile.
 */
export const lean = <Kept extends ReadonlyArray<{ readonly key: string; readonly Identifier: unknown }>>(
  ...kept: Kept
) => {
  const names = new Set(kept.map(({ key }) => key))
  return (context: Context.Context<Kept[number]["Identifier"]>): typeof context =>
    Context.makeUnsafe(
      new Map(Array.from(context.mapUnsafe).filter(([key]) => names.has(key) || !unneeded.test(key)))
    )
}
