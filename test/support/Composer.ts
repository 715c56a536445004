import { Effect } from "effect"
import { ask } from "./Api.ts"
import { blob } from "./MediaFiles.ts"
import { type Person, TestServer } from "./Server.ts"
import type { staffBrowser } from "./StaffBrowser.ts"
import { formsOf, locationOf, type Page } from "./TestBrowser.ts"

/** Returns the posts of an account, newest first. */
export const statusesOf = Effect.fnUntraced(function*(person: Person) {
  const { body } = yield* ask(person, "GET", `/api/v1/accounts/${person.accountId}/statuses?limit=40`)
  const all: ReadonlyArray<Record<string, unknown>> = body
  return all
})
/** Returns the drafts of an account, newest first. */
export const draftsOf = Effect.fnUntraced(function*(person: Person) {
  const { body } = yield* ask(person, "GET", "/api/v1/drafts")
  const all: ReadonlyArray<{ readonly id: string; readonly params: Record<string, unknown> }> = body
  return all
})
/** Returns the text of a status without its tags. */
export const textOf = ({ content }: Record<string, unknown>) => String(content).replace(/<[^>]*>/g, "")
/** Returns the path that a redirect leads to. */
export const pathOf = (page: Page) => locationOf(page).pathname + locationOf(page).search + locationOf(page).hash

/** Sends the composer's form as multipart, with a file. */
export const sendFile = Effect.fnUntraced(function*(
  browser: Effect.Success<ReturnType<typeof staffBrowser>>,
  page: Page,
  act: string,
  fields: Record<string, string>,
  bytes: Uint8Array
) {
  const form = formsOf(page).find(({ acts }) => acts.includes("post"))!
  const body = new FormData()
  for (const [name, value] of Object.entries({ ...form.fields, ...fields, act })) body.append(name, value)
  body.append("file", blob(bytes), "picture.png")
  return yield* browser.request(form.action, {
    method: "POST",
    body,
    headers: { origin: (yield* TestServer).baseUrl }
  })
})
