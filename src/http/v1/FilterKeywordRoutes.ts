import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Filter } from "../../services/filters/Filter.ts"
import type { KeywordChange } from "../../services/filters/FilterChanges.ts"
import { Filters } from "../../services/filters/Filters.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { keywordValues } from "../render/FilterValues.ts"
import { FilterKeyword } from "../wire/Filter.ts"
import { FilterPath, KeywordRequest } from "../wire/FilterRequests.ts"
import { json } from "../wire/Keys.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { filterIn } from "./FilterRoutes.ts"

const path = "/api/v2/filters"
/** Keyword paths, the same in both versions; they come before `/:id` of a filter (S-154, S-179). */
const own = `${path}/keywords`
const ownV1 = "/api/v1/filters/keywords"
const reading = Access.user("read", "read:filters")
const writing = Access.user("write", "write:filters")
const nothing = Schema.Struct({})
const all = { success: Schema.Array(FilterKeyword) }
const one = { params: IdPath, success: FilterKeyword }
const change = { params: IdPath, payload: KeywordRequest, success: FilterKeyword }
const removal = { params: IdPath, success: nothing }

export class FilterKeywordsGroup extends HttpApiGroup.make("filterKeywords")
  .add(
    HttpApiEndpoint.get("list", `${path}/:filterId/keywords`, { params: FilterPath, ...all }).annotate(Access, reading),
    HttpApiEndpoint.post("add", `${path}/:filterId/keywords`, {
      params: FilterPath,
      payload: KeywordRequest,
      success: FilterKeyword
    }).annotate(Access, writing),
    HttpApiEndpoint.get("listAll", own, all).annotate(Access, reading),
    HttpApiEndpoint.get("show", `${own}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.put("update", `${own}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.patch("updateByPatch", `${own}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${own}/:id`, removal).annotate(Access, writing),
    HttpApiEndpoint.get("listAllV1", ownV1, all).annotate(Access, reading),
    HttpApiEndpoint.get("showV1", `${ownV1}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.put("updateV1", `${ownV1}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.patch("updateV1ByPatch", `${ownV1}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.delete("removeV1", `${ownV1}/:id`, removal).annotate(Access, writing)
  )
  .middleware(Guard)
{}

interface Named {
  readonly params: { readonly id: bigint }
}

/** Keywords of filters (S-082, S-153, S-154, S-179). */
export const layer = group(
  FilterKeywordsGroup,
  Effect.fn(function*(handlers) {
    const filters = yield* Filters

    const keywordsOf = (some: ReadonlyArray<Filter>) =>
      Reply.list(some.flatMap(({ keywords }) => keywords).map((keyword) => json<FilterKeyword>(keywordValues(keyword))))
    const listAll = traced("filterKeywords.listAll")(function*() {
      return keywordsOf(yield* filters.list(yield* Caller.account))
    })
    const show = traced("filterKeywords.show")(function*({ params }: Named) {
      return yield* shown(yield* filterOfKeyword(yield* filters.list(yield* Caller.account), params.id), params.id)
    })
    const changeOne = (id: bigint, keyword: KeywordChange) =>
      Effect.flatMap(Caller.account, (owner) =>
        filters.update(
          owner,
          (some) =>
            Effect.map(filterOfKeyword(some, id), (filter) => [filter, { keywords: [{ ...keyword, id }] }] as const)
        ))
    const update = traced("filterKeywords.update")(function*(
      { params, payload }: Named & { readonly payload: KeywordRequest }
    ) {
      const { keyword, wholeWord } = payload
      return yield* shown(yield* changeOne(params.id, { keyword: keyword ?? undefined, wholeWord }), params.id)
    })
    const remove = traced("filterKeywords.remove")(function*({ params }: Named) {
      yield* changeOne(params.id, { remove: true })
      return Reply.empty
    })

    return handlers.handleAll({
      list: traced("filterKeywords.list")(function*({ params }) {
        return keywordsOf([yield* filterIn(yield* filters.list(yield* Caller.account), params.filterId)])
      }),
      add: traced("filterKeywords.add")(function*({ params, payload: { keyword, wholeWord } }) {
        const added = { keyword: keyword ?? "", wholeWord: wholeWord ?? true }
        const filter = yield* filters.update(
          yield* Caller.account,
          (some) => Effect.map(filterIn(some, params.filterId), (filter) => [filter, { keywords: [added] }] as const)
        )
        return yield* shown(filter, filter.keywords.at(-1)?.id ?? 0n)
      }),
      listAll,
      show,
      update,
      updateByPatch: update,
      remove,
      listAllV1: listAll,
      showV1: show,
      updateV1: update,
      updateV1ByPatch: update,
      removeV1: remove
    })
  })
)

/** Returns the filter that has the keyword; fails with RecordNotFound if there is no match. */
export const filterOfKeyword = (filters: ReadonlyArray<Filter>, id: bigint) => {
  const found = filters.find(({ keywords }) => keywords.some((keyword) => keyword.id === id))
  return found === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(found)
}

const shown = ({ keywords }: Filter, id: bigint) => {
  const keyword = keywords.find((one) => one.id === id)
  return keyword === undefined
    ? Effect.fail(new RecordNotFound())
    : Effect.succeed(Reply.json(json<FilterKeyword>(keywordValues(keyword))))
}
