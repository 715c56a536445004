import { Effect } from "effect"
import { HttpServer } from "effect/http"
import * as Loopback from "./Loopback.ts"

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests read bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** Sends a request without following redirects. */
export const send = Effect.fnUntraced(function*(path: string, init: RequestInit = {}) {
  const { address } = yield* HttpServer.HttpServer
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  return yield* Effect.promise(async (): Promise<Reply> => {
    const response = await Loopback.request(`http://127.0.0.1:${port}${path}`, { redirect: "manual", ...init })
    const text = await response.text()
    const json = response.headers.get("content-type")?.includes("json") === true && text !== ""
    return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined }
  })
})

/** Requests an ActivityPub document; returns the response and its JSON. */
export const documentAt = (path: string, headers: Record<string, string> = {}) =>
  Effect.map(send(path, { headers: { accept: "application/activity+json", ...headers } }), (reply) => ({
    ...reply,
    json: reply.text === "" ? undefined : JSON.parse(reply.text)
  }))

export const post = (path: string, parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  send(path, { method: "POST", body: new URLSearchParams(parameters), headers })

export const get = (path: string, token?: string) =>
  send(path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })

export const postJson = (path: string, bearer: string, json: unknown = {}) =>
  send(path, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: JSON.stringify(json)
  })

/** Returns true if a response has a page: 200, or 206 of a home that is still being rebuilt, which is correct, too (D-017). */
export const hasPage = (status: number) => status === 200 || status === 206

/** Returns the ids of a list endpoint. */
export const ids = (path: string, bearer?: string) =>
  Effect.map(get(path, bearer), ({ body, status, text }): ReadonlyArray<string> => {
    if (!hasPage(status) || !Array.isArray(body)) throw new Error(`${path}: ${status} ${text}`)
    return body.map(({ id }: { readonly id: string }) => id)
  })

/** Returns the URLs of a `Link` header by relation, without the server's origin. */
export const links = (headers: Headers): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from((headers.get("link") ?? "").matchAll(/<([^>]+)>; rel="(\w+)"/g), ([, url = "", rel = ""]) => {
      const { pathname, search } = new URL(url)
      return [rel, pathname + search]
    })
  )
