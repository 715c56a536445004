import { Effect } from "effect"
import type { Page } from "playwright-core"
import { type Person, TestServer } from "../support/Server.ts"
import { visit } from "./Browser.ts"
import { signIn } from "./Visits.ts"

/** Opens a browser for a person, on Home. */
export const at = Effect.fnUntraced(function*(person: Person) {
  const { baseUrl } = yield* TestServer
  const visited = yield* visit()
  yield* Effect.promise(async () => {
    await visited.page.goto(`${baseUrl}/home`)
    await signIn(visited.page, person)
    await visited.page.goto(`${baseUrl}/home`)
  })
  return visited
})

/** Waits in the page until an expression is true; the pages' policy forbids `eval`. */
export const until = (page: Page, expression: string) =>
  page.evaluate(`new Promise((resolve) => {
    const look = async () => (await (${expression})) ? resolve(true) : setTimeout(look, 20)
    look()
  })`)

/**
 * Resolves in the page when a second stream is open; the page's own opened before it. A busy server may refuse one, after
 * which a browser does not try again.
 */
export const streamOpens = `new Promise((resolve) => {
  const open = () => {
    const opened = new EventSource(document.body.dataset.stream)
    opened.onopen = () => { opened.close(); resolve(true) }
    opened.onerror = () => { if (opened.readyState === EventSource.CLOSED) setTimeout(open, 100) }
  }
  open()
})`
