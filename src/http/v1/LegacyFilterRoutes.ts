import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type Filter, filterContexts, filterTitleCharactersMax } from "../../services/filters/Filter.ts"
import type { FilterChange } from "../../services/filters/FilterChanges.ts"
import { Filters } from "../../services/filters/Filters.ts"
import { RecordNotFound, Unprocessable } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { deprecated } from "../render/Deprecation.ts"
import { filterV1Values } from "../render/FilterValues.ts"
import { FilterV1 } from "../wire/Filter.ts"
import { FilterV1Request } from "../wire/FilterRequests.ts"
import { json } from "../wire/Keys.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { filterOfKeyword } from "./FilterKeywordRoutes.ts"

const path = "/api/v1/filters"
const reading = Access.user("read", "read:filters")
const writing = Access.user("write", "write:filters")
const change = { params: IdPath, payload: FilterV1Request, success: FilterV1 }

export class LegacyFiltersGroup extends HttpApiGroup.make("legacyFilters")
  .add(
    HttpApiEndpoint.get("list", path, { success: Schema.Array(FilterV1) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: FilterV1Request, success: FilterV1 }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: FilterV1 }).annotate(Access, reading),
    HttpApiEndpoint.put("update", `${path}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.patch("updateByPatch", `${path}/:id`, change).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const outdated = Reply.withHeaders(deprecated("2022-11-14"))

/** First version of filters, with one keyword per filter (S-080, S-151, S-307). */
export const layer = group(
  LegacyFiltersGroup,
  Effect.fn(function*(handlers) {
    const filters = yield* Filters

    const update = traced("legacyFilters.update")(function*({ params, payload }: {
      readonly params: { readonly id: bigint }
      readonly payload: FilterV1Request
    }) {
      const updated = yield* filters.update(
        yield* Caller.account,
        (all) =>
          Effect.flatMap(
            filterOfKeyword(all, params.id),
            (filter) => Effect.map(changeOf(filter, params.id, payload), (change) => [filter, change] as const)
          )
      )
      return yield* shown(updated, params.id)
    })

    return handlers.handleAll({
      list: traced("legacyFilters.list")(function*() {
        const all = yield* filters.list(yield* Caller.account)
        return outdated(Reply.list(
          all.flatMap((filter) => filter.keywords.map((keyword) => json<FilterV1>(filterV1Values(filter, keyword))))
        ))
      }),
      create: traced("legacyFilters.create")(function*({ payload }) {
        const { context, irreversible, phrase, wholeWord } = payload
        const filter = yield* filters.create(yield* Caller.account, {
          title: titleOf(phrase ?? ""),
          contexts: context,
          action: irreversible === true ? "hide" : "warn",
          expiresIn: payload.expiresIn ?? null,
          keywords: [{ keyword: phrase ?? "", wholeWord }]
        })
        return yield* shown(filter, filter.keywords[0]?.id ?? 0n)
      }),
      show: traced("legacyFilters.show")(function*({ params }) {
        const filter = yield* filterOfKeyword(yield* filters.list(yield* Caller.account), params.id)
        return yield* shown(filter, params.id)
      }),
      update,
      updateByPatch: update,
      remove: traced("legacyFilters.remove")(function*({ params }) {
        yield* filters.update(
          yield* Caller.account,
          (all) =>
            Effect.map(
              filterOfKeyword(all, params.id),
              (filter) => [filter, { keywords: [{ id: params.id, remove: true }] }] as const
            )
        )
        return outdated(Reply.empty)
      })
    })
  })
)

/** Returns the filter title for a phrase, cut to the title's limit. */
const titleOf = (phrase: string) => [...phrase].slice(0, filterTitleCharactersMax).join("")

const shown = (filter: Filter, id: bigint) => {
  const keyword = filter.keywords.find((one) => one.id === id)
  return keyword === undefined
    ? Effect.fail(new RecordNotFound())
    : Effect.succeed(outdated(Reply.json(json<FilterV1>(filterV1Values(filter, keyword)))))
}

/**
 * Returns the change of a keyword and its filter. Fails with Unprocessable if the change affects other keywords, too.
 */
const changeOf = (
  filter: Filter,
  id: bigint,
  { context, irreversible, phrase, wholeWord, ...rest }: FilterV1Request
): Effect.Effect<FilterChange, Unprocessable> => {
  const isSingle = filter.keywords.length === 1
  const expiresIn = "expiresIn" in rest ? rest.expiresIn ?? null : undefined
  const action = irreversible === undefined || irreversible === (filter.action === "hide")
    ? undefined
    : irreversible
    ? "hide"
    : "warn"
  const ofAll = action !== undefined ||
    (expiresIn !== undefined && (expiresIn !== null || filter.expiresAt !== null)) ||
    (context !== undefined && filterContexts.some((one) => context.includes(one) !== filter.contexts.includes(one)))
  if (ofAll && !isSingle) {
    return Effect.fail(
      new Unprocessable({
        text:
          "These parameters cannot be changed from this application because they apply to more than one filter keyword. Use a more recent application or the web interface."
      })
    )
  }
  return Effect.succeed({
    title: isSingle && typeof phrase === "string" ? titleOf(phrase) : undefined,
    contexts: context,
    action,
    expiresIn,
    keywords: [{ id, keyword: phrase ?? undefined, wholeWord }]
  })
}
