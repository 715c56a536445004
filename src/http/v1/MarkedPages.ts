import { Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { Page } from "../../services/database/Paging.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { MarkedStatus } from "../../services/statuses/MarkedStatuses.ts"
import { Caller } from "../guard/Caller.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { pageOf, type PageParameters } from "../wire/PageQuery.ts"

/**
 * Makes a function that returns a page of statuses that the caller marked, by ids of the marks (S-200, S-201). Made
 * once per group.
 */
export const make = Effect.gen(function*() {
  const views = yield* StatusViews
  const { publicUrl } = yield* ServerConfig
  return Effect.fnUntraced(function*(
    path: string,
    query: PageParameters,
    read: (account: AccountId, page: Page) => Effect.Effect<ReadonlyArray<MarkedStatus>>
  ) {
    const viewer = yield* Caller.account
    const page = pageOf(query, statusRows)
    const rows = yield* read(viewer, page)
    return Lists.page({
      baseUrl: publicUrl,
      path,
      page,
      rows,
      cursor: ({ cursor }) => cursor,
      items: yield* views.render(viewer, rows.map(({ statusId }) => statusId), "permitted")
    })
  })
})
