import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { AccountId } from "../../../services/database/Ids.ts"
import type { Page } from "../../../services/database/Paging.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import type { ClientError, RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Caller } from "../../guard/Caller.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { domainRows } from "../../render/PageSizes.ts"
import type { JsonOf } from "../../wire/Keys.ts"
import { pageOf, type PageParameters } from "../../wire/PageQuery.ts"

/** Rows that staff edit, as their service offers them. */
interface Rows<Row> {
  readonly find: (id: bigint) => Effect.Effect<Row, RecordNotFound>
  readonly remove: (
    by: AccountId,
    id: bigint
  ) => Effect.Effect<void, ClientError, HttpServerRequest.HttpServerRequest>
}

/** Rows that are read in pages. */
interface Table<Row> extends Rows<Row> {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<Row>>
}

interface List<Row, Wire, Source> {
  /** Name of the group in traces. */
  readonly name: string
  readonly table: Source
  readonly shown: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<JsonOf<Wire>>>
}

interface About {
  readonly params: { readonly id: bigint }
}
interface Creating<Write> {
  readonly payload: Write
}
interface Changing<Write> extends About, Creating<Write> {}

/** Makes the handlers of rows that staff edit: each acts as the caller, and returns the row. */
export const staffHandlers = <Row, Wire>({ name, shown, table }: List<Row, Wire, Rows<Row>>) => {
  const respond = (row: Row) =>
    Effect.flatMap(
      shown([row]),
      ([item]) => item === undefined ? Effect.die(`a row of ${name} is not shown`) : Effect.succeed(Reply.json(item))
    )
  return {
    respond,
    /** Makes the handler that lists all rows. */
    listAll: (rows: Effect.Effect<ReadonlyArray<Row>>) =>
      traced(`admin.${name}.list`)(() => Effect.map(Effect.flatMap(rows, shown), Reply.list)),
    /** Makes the handler that creates a row. */
    create: <Write, E, R>(work: (by: AccountId, write: Write) => Effect.Effect<Row, E, R>) =>
      traced(`admin.${name}.create`)(function*({ payload }: Creating<Write>) {
        return yield* respond(yield* work(yield* Caller.account, payload))
      }),
    /** Makes the handlers that change a row, by PUT and by PATCH. */
    changes: <Write, E, R>(work: (by: AccountId, id: bigint, write: Write) => Effect.Effect<Row, E, R>) => {
      const change = traced(`admin.${name}.change`)(function*({ params, payload }: Changing<Write>) {
        return yield* respond(yield* work(yield* Caller.account, params.id, payload))
      })
      return { replace: change, change }
    },
    /** Makes the handler of another action on a row. */
    act: <E, R>(verb: string, work: (by: AccountId, id: bigint) => Effect.Effect<Row, E, R>) =>
      traced(`admin.${name}.${verb}`)(function*({ params }: About) {
        return yield* respond(yield* work(yield* Caller.account, params.id))
      }),
    handlers: {
      show: traced(`admin.${name}.show`)(({ params }: About) => Effect.flatMap(table.find(params.id), respond)),
      remove: traced(`admin.${name}.remove`)(function*({ params }: About) {
        yield* table.remove(yield* Caller.account, params.id)
        return Reply.empty
      })
    }
  }
}

/** Makes the handlers of rows that staff edit and read in pages. */
export const staffTable = <Row extends { readonly id: bigint }, Wire>(
  { path, ...list }: List<Row, Wire, Table<Row>> & { readonly path: string }
) =>
  Effect.map(ServerConfig, ({ publicUrl: baseUrl }) => {
    const { name, shown, table } = list
    const handlers = staffHandlers(list)
    return {
      ...handlers,
      handlers: {
        ...handlers.handlers,
        list: traced(`admin.${name}.list`)(function*({ query }: { readonly query: PageParameters }) {
          const page = pageOf(query, domainRows)
          const rows = yield* table.page(page)
          return Lists.page({ baseUrl, path, page, rows, cursor: ({ id }) => id, items: yield* shown(rows) })
        })
      }
    }
  })
