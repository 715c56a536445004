import { Clock, Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { RemotePosts } from "../../services/federation/fetching/RemotePosts.ts"
import type { Filter } from "../../services/filters/Filter.ts"
import { Filters } from "../../services/filters/Filters.ts"
import { type ClientError, RecordNotFound } from "../../services/runtime/Errors.ts"
import { momentOf } from "../../services/runtime/Moments.ts"
import type { FilterDetails } from "../../services/transfers/ImportLine.ts"

/** Posts of one imported filter that are looked up, and the timeout for all of them, in seconds. */
const statusesMax = 100
const statusSecondsMax = 30

/** Returns the keyword changes that make a filter match the file; with `overwrite`, others are removed. */
const keywordsOf = (filter: Filter | undefined, { keywords }: FilterDetails, overwrite: boolean) => {
  const byKeyword = new Map(keywords.map((one) => [one.keyword, one]))
  const known = (filter?.keywords ?? []).map(({ id, keyword }) => {
    const found = byKeyword.get(keyword)
    byKeyword.delete(keyword)
    return found === undefined
      ? (overwrite ? [{ id, remove: true }] : [])
      : [{ id, wholeWord: found.wholeWord }]
  })
  return [...known.flat(), ...byKeyword.values()]
}

/**
 * Returns a function that writes an imported filter. A filter is identified by its title, so that a repetition adds
 * nothing; with `overwrite`, an existing one loses keywords that the file lacks.
 */
export const make = Effect.gen(function*() {
  const filters = yield* Filters
  const posts = yield* RemotePosts

  /** Adds the posts that can be found and seen; others are skipped. */
  const addStatuses = Effect.fnUntraced(function*(owner: AccountId, filter: Filter, uris: ReadonlyArray<string>) {
    const presentIds = new Set(filter.statuses.map(({ statusId }) => statusId))
    for (const uri of uris.slice(0, statusesMax)) {
      const id = yield* Effect.orElseSucceed(posts.find(uri), () => undefined)
      if (id === undefined || presentIds.has(id)) continue
      presentIds.add(id)
      yield* Effect.catchTags(filters.addStatus(owner, filter.id, id), {
        RecordNotFound: () => Effect.void,
        Unprocessable: () => Effect.void
      })
    }
  }, Effect.timeoutOrElse({ duration: `${statusSecondsMax} seconds`, orElse: () => Effect.void }))

  return Effect.fnUntraced(
    function*(owner: AccountId, given: FilterDetails | undefined, overwrite: boolean): Effect.fn.Return<
      void,
      ClientError
    > {
      if (given === undefined) return yield* new RecordNotFound()
      const { action, contexts, expiresAt, title } = given
      const now = yield* Clock.currentTimeMillis
      const end = expiresAt === null ? undefined : momentOf(expiresAt)
      const expiresIn = end === undefined ? null : Math.max(0, Math.round((end - now) / 1_000))
      const before = (yield* filters.list(owner)).find((filter) => filter.title === title)
      const change = { title, contexts, action, expiresIn, keywords: keywordsOf(before, given, overwrite) }
      const written = before === undefined
        ? yield* filters.create(owner, change)
        : yield* filters.update(owner, (all) => {
          const found = all.find(({ id }) => id === before.id)
          return found === undefined ? new RecordNotFound() : Effect.succeed([found, change])
        })
      yield* addStatuses(owner, { ...written, statuses: before?.statuses ?? [] }, given.statuses)
    }
  )
})
