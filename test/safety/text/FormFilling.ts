import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf, type Page } from "../../support/TestBrowser.ts"
import { pauseIn } from "./Pauses.ts"
import { mixedText, worstTexts } from "./worstTexts.ts"

/** Maximum time for which the event loop may be blocked, in CPU milliseconds, as for the other entrances. */
export const pauseMillisMax = 50
/** Attempts per request; the shortest pause counts, because garbage collection adds time. */
const triesMax = 5
/** Length of a text in a form, in UTF-16 code units: a common one, and one near the limit of a body. */
const units = [8_000, 120_000]
/** Length of a text in a query, in UTF-16 code units. */
const queryUnits = 1_000
/** Texts per field; neighbouring fields get different ones. */
const textsOfField = 3

const texts = units.map((count) => [mixedText(count), ...worstTexts(count).map(([, text]) => text.toWellFormed())])
const queries = worstTexts(queryUnits).map(([, text]) => encodeURIComponent(text.toWellFormed()))

type Browser = Effect.Success<ReturnType<typeof staffBrowser>>

/**
 * Fills in forms and queries with the worst texts. Requests that block the event loop for too long are collected in
 * `slow`; an internal error fails at once.
 */
export const make = () => {
  const slow: Array<string> = []
  const statuses: Record<number, number> = {}
  let at = 0

  const recordPause = Effect.fnUntraced(function*<R>(about: string, request: Effect.Effect<Page, never, R>) {
    let least = Infinity
    for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
      const [response, pause] = yield* pauseIn(request)
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
      assert.isBelow(response.status, 500, `${about}: ${response.text.slice(0, 2_000)}`)
      least = Math.min(least, pause)
    }
    if (least >= pauseMillisMax) slow.push(`${about}: ${Math.round(least)} ms`)
  })

  /** Submits each form of the page, once for each text and field. */
  const page = Effect.fnUntraced(function*(browser: Browser, path: string, found?: Page) {
    const shown = found ?? (yield* browser.get(path))
    assert.strictEqual(shown.status, 200, path)
    for (const [index, form] of formsOf(shown).entries()) {
      if (form.action.startsWith("/auth/sign_out")) continue
      for (const name of form.written) {
        for (let text = 0; text < textsOfField * units.length; text++) {
          const own = texts[text % units.length] ?? []
          const value = own[at++ % own.length] ?? ""
          const act = form.acts[0] === undefined ? {} : { act: form.acts[0] }
          yield* recordPause(
            `${path} ${name} (${JSON.stringify(value.slice(0, 8))})`,
            browser.submit(shown, { ...act, [name]: value }, index)
          )
        }
      }
    }
  })

  /** Requests `path` with every ninth text in place of `TEXT`. */
  const query = (browser: Browser, path: string, place: number) =>
    Effect.forEach(
      queries.filter((_, index) => index % 9 === place % 9),
      (text) => recordPause(`${path} (${text.slice(0, 40)})`, browser.get(path.replace("TEXT", text))),
      { discard: true }
    )

  return {
    page,
    query,
    /** Checks that nothing was slow, and that some texts passed the first checks; returns the figures. */
    figures: () => {
      assert.deepStrictEqual(slow, [])
      assert.isAbove((statuses[200] ?? 0) + (statuses[422] ?? 0) + (statuses[303] ?? 0), 100)
      return { texts: at, statuses }
    }
  }
}
