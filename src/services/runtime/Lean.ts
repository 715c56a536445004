import { Context } from "effect"

/*
 * Contexts without the services of this program. Adding to a context copies it, several times for each request, command
 * and transaction. About sixty services are resolved once at construction, so hot paths need not carry them.
 */

/** Keys of this program's services, and of effect's services that only they use. */
const unneeded =
  /^(?:murmuration\/|@effect\/sql|effect\/(?:cluster|crypto|process|sql)\/|effect\/Terminal$|~effect\/Stdio$)/

/**
 * Returns a function that reduces a context to fiber settings, effect's own services and the services in `kept`. The
 * type has only `kept`, so that code that requires another service does not compile.
 *
 * @fastPath lean-contexts
 */
export const reduceContext = <Kept extends ReadonlyArray<{ readonly key: string; readonly Identifier: unknown }>>(
  ...services: Kept
) => {
  const names = new Set(services.map(({ key }) => key))
  return (context: Context.Context<Kept[number]["Identifier"]>): typeof context =>
    Context.makeUnsafe(
      new Map(Array.from(context.mapUnsafe).filter(([key]) => names.has(key) || !unneeded.test(key)))
    )
}
