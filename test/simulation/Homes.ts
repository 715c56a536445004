import { Effect } from "effect"
import type { Page } from "../../src/services/database/Paging.ts"
import { type FeedKey, listFeed } from "../../src/services/feeds/Feeds.ts"
import type { Facts } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"

/**
 * I3: a home or list holds what the rules in plain code say, without duplicates, in order, and nothing else that its
 * reader can see. I4: a node rebuilds it identically after all feeds were lost.
 */
export const check = Effect.fnUntraced(
  function*({ homes, listTimelines, people, shared: { feeds } }: Aftermath, facts: Facts) {
    const broken: Array<string> = []
    const compared = Effect.fnUntraced(function*(
      what: string,
      reader: bigint,
      feed: FeedKey,
      expected: ReadonlyArray<bigint>,
      page: (page: Page) => Effect.Effect<{ readonly read: ReadonlyArray<bigint> }>
    ) {
      const visible = (ids: ReadonlyArray<bigint>) => ids.filter((id) => facts.canSee(reader, id))
      const steady = (ids: ReadonlyArray<bigint>) => ids.filter((id) => facts.byId.get(id)?.changed === false)
      const stored = yield* feeds.read(feed)
      if (stored !== undefined) {
        compare(broken, `I3: ${what}`, steady(visible(stored.map(({ id }) => id))), steady(expected))
      }
      yield* feeds.drop([feed])
      const { read } = yield* page({ limit: Math.max(1, expected.length) })
      compare(broken, `I4: ${what} after a loss`, visible(read), expected)
    })
    for (const reader of people) {
      yield* compared(`the home of ${reader}`, reader, reader, facts.homeOf(reader), (page) => homes.page(reader, page))
    }
    for (const list of facts.rows.lists) {
      const { accountId, id } = list
      const read = (page: Page) => listTimelines.page(id, page)
      yield* compared(`the list ${id} of ${accountId}`, accountId, listFeed(id), facts.listOf(list), read)
    }
    return broken
  }
)

const compare = (
  broken: Array<string>,
  what: string,
  found: ReadonlyArray<bigint>,
  expected: ReadonlyArray<bigint>
) => {
  const missing = expected.filter((id) => !found.includes(id))
  const extra = found.filter((id) => !expected.includes(id))
  if (missing.length > 0) broken.push(`${what} lacks ${missing}`)
  if (extra.length > 0) broken.push(`${what} holds ${extra}, which should not be there`)
  if (new Set(found).size < found.length) broken.push(`${what} holds an entry twice`)
  if (found.some((id, at) => at > 0 && found[at - 1]! < id)) broken.push(`${what} is out of order`)
}
