import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Filter as StoredFilter } from "../../services/filters/Filter.ts"
import type { FilterChange } from "../../services/filters/FilterChanges.ts"
import { Filters } from "../../services/filters/Filters.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { filterStatusValues, filterValues } from "../render/FilterValues.ts"
import { Filter, FilterStatus } from "../wire/Filter.ts"
import { FilterPath, FilterRequest, FilterStatusRequest } from "../wire/FilterRequests.ts"
import { json } from "../wire/Keys.ts"
import { IdPath } from "../wire/ReadRequests.ts"

const path = "/api/v2/filters"
const reading = Access.user("read", "read:filters")
const writing = Access.user("write", "write:filters")
const nothing = Schema.Struct({})
const change = { params: IdPath, payload: FilterRequest, success: Filter }

export class FiltersGroup extends HttpApiGroup.make("filters")
  .add(
    HttpApiEndpoint.get("list", path, { success: Schema.Array(Filter) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: FilterRequest, success: Filter }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: Filter }).annotate(Access, reading),
    HttpApiEndpoint.put("update", `${path}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.patch("updateByPatch", `${path}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: nothing }).annotate(Access, writing),
    HttpApiEndpoint.get("statuses", `${path}/:filterId/statuses`, {
      params: FilterPath,
      success: Schema.Array(FilterStatus)
    }).annotate(Access, reading),
    HttpApiEndpoint.post("addStatus", `${path}/:filterId/statuses`, {
      params: FilterPath,
      payload: FilterStatusRequest,
      success: FilterStatus
    }).annotate(Access, writing),
    HttpApiEndpoint.get("showStatus", `${path}/statuses/:id`, { params: IdPath, success: FilterStatus })
      .annotate(Access, reading),
    HttpApiEndpoint.delete("removeStatus", `${path}/statuses/:id`, { params: IdPath, success: nothing })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Filters with their keywords and individually filtered statuses (S-081, S-083, S-084, S-152). */
export const layer = group(
  FiltersGroup,
  Effect.fn(function*(handlers) {
    const filters = yield* Filters

    const update = traced("filters.update")(function*({ params, payload }: {
      readonly params: { readonly id: bigint }
      readonly payload: FilterRequest
    }) {
      const updated = yield* filters.update(
        yield* Caller.account,
        (all) => Effect.map(filterIn(all, params.id), (filter) => [filter, changeOf(payload)] as const)
      )
      return Reply.json(json<Filter>(filterValues(updated)))
    })

    return handlers.handleAll({
      list: traced("filters.list")(function*() {
        const all = yield* filters.list(yield* Caller.account)
        return Reply.list(all.map((filter) => json<Filter>(filterValues(filter))))
      }),
      create: traced("filters.create")(function*({ payload }) {
        const created = yield* filters.create(yield* Caller.account, changeOf(payload))
        return Reply.json(json<Filter>(filterValues(created)))
      }),
      show: traced("filters.show")(function*({ params }) {
        const filter = yield* filterIn(yield* filters.list(yield* Caller.account), params.id)
        return Reply.json(json<Filter>(filterValues(filter)))
      }),
      update,
      updateByPatch: update,
      remove: traced("filters.remove")(function*({ params }) {
        yield* filters.remove(yield* Caller.account, params.id)
        return Reply.empty
      }),
      statuses: traced("filters.statuses")(function*({ params }) {
        const { statuses } = yield* filterIn(yield* filters.list(yield* Caller.account), params.filterId)
        return Reply.list(statuses.map((entry) => json<FilterStatus>(filterStatusValues(entry))))
      }),
      addStatus: traced("filters.addStatus")(function*({ params, payload: { statusId = 0n } }) {
        const id = yield* filters.addStatus(yield* Caller.account, params.filterId, statusId)
        return Reply.json(json<FilterStatus>(filterStatusValues({ id, statusId })))
      }),
      showStatus: traced("filters.showStatus")(function*({ params }) {
        const all = yield* filters.list(yield* Caller.account)
        const entry = all.flatMap(({ statuses }) => statuses).find(({ id }) => id === params.id)
        if (entry === undefined) return yield* new RecordNotFound()
        return Reply.json(json<FilterStatus>(filterStatusValues(entry)))
      }),
      removeStatus: traced("filters.removeStatus")(function*({ params }) {
        yield* filters.removeStatus(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
)

/** Returns the filter with this id out of the user's own; fails with RecordNotFound for any other id. */
export const filterIn = (filters: ReadonlyArray<StoredFilter>, id: bigint) => {
  const found = filters.find((filter) => filter.id === id)
  return found === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(found)
}

const changeOf = (
  { context, filterAction, keywordsAttributes, title, ...rest }: FilterRequest
): FilterChange => ({
  title: title ?? undefined,
  contexts: context,
  action: filterAction ?? undefined,
  expiresIn: "expiresIn" in rest ? rest.expiresIn ?? null : undefined,
  keywords: Object.values(keywordsAttributes ?? []).flatMap((given) =>
    given === undefined
      ? []
      : [{ id: given.id, keyword: given.keyword ?? undefined, wholeWord: given.wholeWord, remove: given.destroy }]
  )
})
