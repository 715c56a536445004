import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"
import { hasPage } from "./Requests.ts"
import { type Person, TestServer } from "./Server.ts"

/** Sends a request with a token, if any; returns the status, headers and body. Objects are sent as JSON. */
export const call = Effect.fnUntraced(function*(
  method: string,
  path: string,
  token: string | undefined,
  body?: unknown
) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(path, {
    method,
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : body instanceof FormData ? { body } : { json: body })
  })
  const text = yield* Effect.promise(() => response.text())
  // Tests read bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  const read: any = text === "" || response.headers.get("content-type")?.startsWith("text/csv") === true
    ? text || undefined
    : JSON.parse(text)
  return { status: response.status, body: read, headers: response.headers }
})

/** Sends a request as a person, or without a token. */
export const ask = (by: Pick<Person, "token"> | undefined, method: string, path: string, json?: unknown) =>
  call(method, path, by?.token, json)

/** Returns the body of a response; `method` is by default POST with a body, and GET without. */
export const json = (
  by: Pick<Person, "token"> | undefined,
  path: string,
  body?: unknown,
  method = body === undefined ? "GET" : "POST"
) => Effect.map(call(method, path, by?.token, body), (response) => response.body)

/** Sends a post's fields; returns the response. */
export const sendPost = (by: Pick<Person, "token">, fields: Readonly<Record<string, unknown>>) =>
  call("POST", "/api/v1/statuses", by.token, fields)

/** Publishes a post; returns its JSON. Fails unless the response is 200. */
export const publish = (by: Pick<Person, "token">, status: string, more: object = {}) =>
  Effect.map(sendPost(by, { status, ...more }), (response) => {
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
    return response.body
  })

/** Publishes a post; returns its id. Fails unless the response is 200. */
export const publishedId = (by: Pick<Person, "token">, status: string, more: object = {}) =>
  Effect.map(publish(by, status, more), ({ id }) => String(id))

/** Creates a local account with a token. */
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
    if (!hasPage(status)) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body.map(({ id }: { readonly id: string }) => id)
  })
