import { Effect } from "effect"
import type { Reply } from "./Requests.ts"
import { type Person, TestServer } from "./Server.ts"
import * as TestBrowser from "./TestBrowser.ts"

/** A browser without scripts, signed in to the pages of the server under test. */
export const staffBrowser = Effect.fnUntraced(function*(person?: Person) {
  const { baseUrl, fetch } = yield* TestServer
  const send = (path: string, init: RequestInit = {}): Effect.Effect<Reply> =>
    Effect.flatMap(
      fetch(path, { redirect: "manual", ...init }),
      (response) =>
        Effect.map(Effect.promise(() => response.text()), (text) => ({
          status: response.status,
          headers: response.headers,
          text,
          body: undefined
        }))
    )
  const browser = TestBrowser.makeWith(send, { origin: baseUrl }, "example.org")
  if (person !== undefined) yield* browser.signIn(person.username, undefined, person.password)
  /** Follows a redirect. */
  const follow = (reply: Reply) => {
    const { pathname, search } = TestBrowser.locationOf(reply)
    return browser.get(pathname + search)
  }
  return { ...browser, follow }
})
