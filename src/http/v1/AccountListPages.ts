import { Effect } from "effect"
import type { Page } from "../../services/database/Paging.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Listed } from "../../services/statuses/Interactions.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { accountRows } from "../render/PageSizes.ts"
import { pageOf, type PageParameters } from "../wire/PageQuery.ts"

/**
 * Makes a function that returns a page of accounts, with links from the cursors of its rows, which keep the parameters
 * `keep`. Made once per group.
 */
export const make = Effect.gen(function*() {
  const views = yield* AccountViews
  const { publicUrl } = yield* ServerConfig
  return Effect.fnUntraced(function*<E>(
    path: string,
    query: PageParameters,
    read: (page: Page) => Effect.Effect<ReadonlyArray<Listed>, E>,
    keep: Readonly<Record<string, string | boolean>> = {}
  ) {
    const page = pageOf(query, accountRows)
    const rows = yield* read(page)
    return Lists.page({
      baseUrl: publicUrl,
      path,
      page,
      rows,
      cursor: ({ cursor }) => cursor,
      items: yield* views.render(rows.map(({ accountId }) => accountId)),
      keep,
      back: "since_id"
    })
  })
})
