import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { AccountId } from "../../../services/database/Ids.ts"
import type { Page } from "../../../services/database/Paging.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import type { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Caller } from "../../guard/Caller.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { domainRows } from "../../render/PageSizes.ts"
import type { Ready } from "../../wire/Keys.ts"
import { pageOf, type PageParameters } from "../../wire/PageQuery.ts"

/** A table of staff decisions, as its service offers it. */
interface Table<Row> {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<Row>>
  readonly find: (id: bigint) => Effect.Effect<Row, RecordNotFound>
  readonly remove: (
    by: AccountId,
    id: bigint
  ) => Effect.Effect<void, RecordNotFound, HttpServerRequest.HttpServerRequest>
}

interface About {
  readonly params: { readonly id: bigint }
}

/** Makes handlers that staff tables share: page, row and removal. `name` is the group's name in traces. */
export const staffTable = <Row extends { readonly id: bigint }, Wire>(
  { name, path, shown, table }: {
    readonly name: string
    readonly path: string
    readonly table: Table<Row>
    readonly shown: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Ready<Wire>>>
  }
) =>
  Effect.map(ServerConfig, ({ publicUrl: baseUrl }) => {
    const answer = (row: Row) =>
      Effect.flatMap(
        shown([row]),
        ([item]) => item === undefined ? Effect.die(`a row of ${path} is not shown`) : Effect.succeed(Reply.json(item))
      )
    return {
      answer,
      handlers: {
        list: traced(`admin.${name}.list`)(function*({ query }: { readonly query: PageParameters }) {
          const page = pageOf(query, domainRows)
          const rows = yield* table.page(page)
          return Lists.page({ baseUrl, path, page, rows, cursor: ({ id }) => id, items: yield* shown(rows) })
        }),
        show: traced(`admin.${name}.show`)(({ params }: About) => Effect.flatMap(table.find(params.id), answer)),
        remove: traced(`admin.${name}.remove`)(function*({ params }: About) {
          yield* table.remove(yield* Caller.account, params.id)
          return Reply.empty
        })
      }
    }
  })
