import { Effect } from "effect"
import type { AccountId } from "../../src/services/Ids.ts"
import type { Facts } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"

/** Entries that one page asks for. */
const pageLimit = 15
/** Pages that a home may have here. */
const pagesMax = 20

/**
 * I3: a home holds what it should, each once, in order, as the rules say in plain code, and nothing else that its reader
 * can see; I4: it reads the same after all feeds were lost.
 */
export const check = Effect.fnUntraced(function*(aftermath: Aftermath, facts: Facts) {
  const { people, shared: { feeds } } = aftermath
  const broken: Array<string> = []
  for (const reader of people) {
    const visible = (ids: ReadonlyArray<bigint>) => ids.filter((id) => facts.canSee(reader, id))
    const expected = facts.homeOf(reader)
    const stored = (yield* feeds.read(reader))?.map(({ id }) => id)
    if (stored !== undefined) compare(broken, `I3: the home of ${reader}`, visible(stored), expected)
    const before = visible(yield* whole(aftermath, reader))
    compare(broken, `I3: what ${reader} reads`, before, expected)
    yield* feeds.drop([reader])
    compare(broken, `I4: after a loss, what ${reader} reads`, visible(yield* whole(aftermath, reader)), before)
  }
  return broken
})

/** Every page of a home, as a client reads on and on. */
const whole = Effect.fnUntraced(function*({ homes }: Aftermath, reader: AccountId) {
  const ids: Array<bigint> = []
  for (let page = 0; page < pagesMax; page++) {
    const { read } = yield* homes.page(reader, { limit: pageLimit, maxId: ids.at(-1) })
    ids.push(...read)
    if (read.length < pageLimit) break
  }
  return ids
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
