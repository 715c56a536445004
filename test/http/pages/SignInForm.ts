import { Effect } from "effect"

import type * as TestBrowser from "../../support/TestBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"

export const signInForm = Effect.fnUntraced(function*(browser: ReturnType<typeof TestBrowser.make>) {
  return formsOf(yield* browser.get("/auth/sign_in"))[0]?.fields ?? {}
})
