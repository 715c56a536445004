import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"
import { type Person, TestServer } from "./Server.ts"

/** Sends an API request; returns the status, headers and body. */
export const ask = Effect.fnUntraced(function*(by: Person | undefined, method: string, path: string, json?: unknown) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(path, {
    method,
    ...(by === undefined ? {} : { token: by.token }),
    ...(json === undefined ? {} : { json })
  })
  const text = yield* Effect.promise(() => response.text())
  // Tests read bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  const body: any = text === "" || response.headers.get("content-type")?.startsWith("text/csv") === true
    ? text || undefined
    : JSON.parse(text)
  return { status: response.status, body, headers: response.headers }
})

export const newPerson = (name: string) => TestServer.use(({ createPerson }) => createPerson(name))

/** Waits until no fan-out is open. */
export const settled = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* eventually(
    sql<{ count: number }>`SELECT count(*)::int AS count FROM fanouts`,
    ([row]) => row?.count === 0
  )
})

/** Returns the ids of a list endpoint. */
export const idsOf = (by: Person | undefined, path: string) =>
  Effect.map(ask(by, "GET", path), ({ body, status }): ReadonlyArray<string> => {
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body.map(({ id }: { readonly id: string }) => id)
  })
