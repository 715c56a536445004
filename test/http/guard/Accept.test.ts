import { assert, describe, it } from "@effect/vitest"
import { preferredOffer } from "../../../src/http/guard/Accept.ts"
import { acceptsPage } from "../../../src/http/html/Browsers.ts"

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
const profile = "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\""

describe("F89: preferences of an Accept header", () => {
  for (
    const [accept, expected] of [
      [undefined, "page"],
      ["", "page"],
      ["*/*", "page"],
      ["image/png", "page"],
      [browser, "page"],
      ["application/activity+json", "activity"],
      ["APPLICATION/Activity+JSON", "activity"],
      [profile, "activity"],
      ["application/ld+json", "activity"],
      ["application/json", "activity"],
      ["application/*", "activity"],
      ["application/json;q=0.1", "activity"],
      ["text/html, application/activity+json", "page"],
      ["application/activity+json, text/html", "activity"],
      [`application/activity+json, ${profile}, text/html;q=0.1`, "activity"],
      ["text/html;q=0.9, application/activity+json;q=0.5", "page"],
      ["application/activity+json;q=0.5, text/html;q=0.9", "page"],
      ["text/html;q=0.5, application/activity+json", "activity"],
      ["application/activity+json;q=0, text/html", "page"],
      ["application/activity+json; q=0", "page"],
      ["application/activity+json;q=0.0,application/ld+json;q=0.3, text/html;q=0.2", "activity"],
      ["text/html;q=0, */*", "activity"],
      ["*/*, application/activity+json", "activity"],
      ["*/*;q=0.9, application/activity+json;q=0.1", "page"],
      ["application/activity+json;q=banana, text/html;q=0.5", "activity"],
      ["text/html;level=1;q=0.4, application/activity+json;q=0.5", "activity"],
      ["application/activity+json2, text/x-application/activity+json", "page"],
      [`${"text/plain,".repeat(10_000)}application/activity+json`, "page"]
    ] as const
  ) {
    it(String(accept).slice(0, 80), () => assert.strictEqual(preferredOffer(accept, "page", "activity"), expected))
  }

  it("a browser gets pages, a program JSON", () => {
    assert.isTrue(acceptsPage(browser))
    assert.isTrue(acceptsPage("application/json;q=0.2, text/html"))
    for (const accept of [undefined, "*/*", "application/json", "application/json, text/html;q=0.9", "text/html;q=0"]) {
      assert.isFalse(acceptsPage(accept), accept)
    }
  })
})
