import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { publishedId } from "../../support/Api.ts"
import { allowedMillis } from "../../support/MachineSpeed.ts"
import { status } from "../../support/Posts.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

/** Counts the posts outside of folds: those before the first fold of their branch. */
const unfolded = (text: string): number => {
  let depth = 0
  let count = 0
  for (const [mark] of text.matchAll(/<details class="fold">|<details|<\/details>|<article id="status-/g)) {
    if (mark === "<article id=\"status-") count += depth === 0 ? 1 : 0
    else if (mark === "</details>") depth = Math.max(0, depth - 1)
    else if (mark === "<details class=\"fold\">" || depth > 0) depth++
  }
  return count
}

layer(TestServer.layer(), { excludeTestServices: true })("long threads", (it) => {
  it.effect("750 replies are on one page, of which 200 are shown at once, at any level", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const browser = yield* staffBrowser()
      for (const shape of ["wide", "below one"]) {
        const root = yield* publishedId(ada, `root of a thread, ${shape}`)
        const parent = shape === "wide"
          ? BigInt(root)
          : yield* status(ada.accountId, "one", { inReplyTo: BigInt(root) })
        for (let at = 0; at < 750; at++) yield* status(ada.accountId, `reply ${at}`, { inReplyTo: parent })
        const began = performance.now()
        const page = yield* browser.request(`/@ada/${root}`, { headers: { "accept-encoding": "br" } })
        const millis = performance.now() - began
        assert.strictEqual(page.status, 200)
        assert.strictEqual(page.text.match(/<article id="status-/g)?.length, shape === "wide" ? 751 : 752)
        assert.isAtMost(unfolded(page.text), 201)
        assert.isBelow(Number(page.headers.get("content-length")), 150_000)
        assert.isBelow(millis, allowedMillis(5_000))
      }
    }))
})
