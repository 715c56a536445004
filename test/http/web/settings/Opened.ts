import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { ask } from "../../../support/Api.ts"
import type { Reply } from "../../../support/Requests.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"
import { formsOf } from "../../../support/TestBrowser.ts"

/** Returns what a browser sends for the form with this button: its unchanged values. */
const filled = (page: Reply, act: string): URLSearchParams => {
  const form = [...page.text.matchAll(/<form method="post"[^>]*>(.*?)<\/form>/gs)]
    .find(([, inside = ""]) => inside.includes(`value="${act}"`))?.[1] ?? ""
  const sent = new URLSearchParams()
  for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1] ?? ""
    const value = /value="([^"]*)"/.exec(tag)?.[1] ?? ""
    if (/type="file"/.test(tag) || (/type="checkbox"/.test(tag) && !/ checked/.test(tag))) continue
    sent.append(name, value)
  }
  for (const [, name = "", text = ""] of form.matchAll(/<textarea name="([^"]*)"[^>]*>\n?(.*?)<\/textarea>/gs)) {
    sent.append(name, text)
  }
  for (const [, name = "", inside = ""] of form.matchAll(/<select name="([^"]*)">(.*?)<\/select>/gs)) {
    sent.append(name, /value="([^"]*)" selected/.exec(inside)?.[1] ?? /value="([^"]*)"/.exec(inside)?.[1] ?? "")
  }
  sent.set("act", act)
  return sent
}

/** Creates a person with a browser that submits settings forms. */
export const opened = Effect.fnUntraced(function*(name: string) {
  const { baseUrl, createPerson } = yield* TestServer
  const person = yield* createPerson(name)
  const browser = yield* staffBrowser(person)
  /** Changes fields of a form, and submits it. */
  const send = Effect.fnUntraced(function*(path: string, act: string, change: (fields: URLSearchParams) => void) {
    const page = yield* browser.get(path)
    assert.strictEqual(page.status, 200, page.text)
    const fields = filled(page, act)
    change(fields)
    const { action } = formsOf(page).find(({ acts }) => acts.includes(act))!
    return yield* browser.request(action, { method: "POST", body: fields, headers: { origin: baseUrl } })
  })
  const profile = Effect.map(ask(person, "GET", "/api/v1/accounts/verify_credentials"), ({ body }) => body)
  return { person, browser, send, profile }
})
