import { Effect } from "effect"
import { TestServer } from "../support/Server.ts"
import { formsOf } from "../support/TestBrowser.ts"
import { call } from "./Calls.ts"

/** Submits the first form of a page like a browser with these cookies; returns the cookies afterwards. */
export const submit = Effect.fnUntraced(function*(path: string, cookie: string, fields: Record<string, string> = {}) {
  const { baseUrl } = yield* TestServer
  const page = yield* call("GET", path, undefined, undefined, { headers: { cookie } })
  const cookies = [cookie, ...page.headers.getSetCookie().map((set) => set.split(";", 1)[0])].join("; ")
  const form = formsOf(page)[0]!
  const response = yield* call("POST", form.action, undefined, undefined, {
    headers: { cookie: cookies, origin: baseUrl },
    redirect: "manual",
    body: new URLSearchParams({ ...form.fields, ...fields })
  })
  return {
    response,
    cookies: [cookies, ...response.headers.getSetCookie().map((set) => set.split(";", 1)[0])].join("; ")
  }
})
