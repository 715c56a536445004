import { Effect } from "effect"
import type { Facts } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"

/**
 * I3: a home holds what it should, each once, in order, as the rules say in plain code, and nothing else that its reader
 * can see; I4: a node makes it anew just like that after all feeds were lost.
 */
export const check = Effect.fnUntraced(function*({ homes, people, shared: { feeds } }: Aftermath, facts: Facts) {
  const broken: Array<string> = []
  for (const reader of people) {
    const visible = (ids: ReadonlyArray<bigint>) => ids.filter((id) => facts.canSee(reader, id))
    const expected = facts.homeOf(reader)
    const stored = yield* feeds.read(reader)
    if (stored !== undefined) {
      compare(broken, `I3: the home of ${reader}`, visible(stored.map(({ id }) => id)), expected)
    }
    yield* feeds.drop([reader])
    const page = yield* homes.page(reader, { limit: Math.max(1, expected.length) })
    compare(broken, `I4: the home of ${reader} after a loss`, visible(page.read), expected)
  }
  return broken
})

const compare = (
  broken: Array<string>,
  what: string,
  found: ReadonlyArray<bigint>,
  expected: ReadonlyArray<bigint>
) => {
  const missing = expected.filter((id) => !found.includes(id))
  const extra = found.filter((id) => !expected.includes(id))
  if (missing.length > 0) broken.push(`${what} lacks ${missing}`)
  if (extra.length > 0) broken.push(`${what} holds ${extra}, which does not belong there`)
  if (new Set(found).size < found.length) broken.push(`${what} holds an entry twice`)
  if (found.some((id, at) => at > 0 && found[at - 1]! < id)) broken.push(`${what} is out of order`)
}
