import { Effect } from "effect"
import { staffMember } from "./Staff.ts"
import { staffBrowser } from "./StaffBrowser.ts"

/** An administrator signed in to the staff pages. */
export const administratorBrowser = Effect.fnUntraced(function*(name: string) {
  const person = yield* staffMember(name, ["administrator"], 900)
  const browser = yield* staffBrowser(person)
  /** Presses a button, confirms if asked, and returns the next page. */
  const act = Effect.fnUntraced(function*(path: string, name: string, fields: Record<string, string> = {}) {
    const first = yield* browser.press(yield* browser.get(path), name, fields)
    const done = first.status === 200 ? yield* browser.press(first, name) : first
    return done.status === 302 ? yield* browser.follow(done) : done
  })
  const undo = Effect.fnUntraced(function*(page: { readonly text: string } & Parameters<typeof browser.submit>[0]) {
    const done = yield* browser.submit(page, { act: /name="act" value="([^"]*)">Undo/.exec(page.text)?.[1] ?? "" }, 1)
    return done.status === 302 ? yield* browser.follow(done) : done
  })
  return { ...person, browser, act, undo }
})
