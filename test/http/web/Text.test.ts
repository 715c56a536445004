import { assert, describe, it } from "@effect/vitest"
import { contentOf, lineOfStatus } from "../../../src/http/web/status/StatusText.ts"
import { endOf, timeOf } from "../../../src/http/web/status/Times.ts"
import { english } from "../../../src/services/languages/Catalogs.ts"

const tag = { name: "cats", url: "https://here.example/tags/cats" }
const shown = (content: string) => String(contentOf({ content, emojis: [], mentions: [], tags: [tag] }))

describe("the text of a post", () => {
  it("links hashtags of other servers to our page, and changes no other link", () => {
    const link = `<a href="https://there.example/tags/Cats" class="mention hashtag" rel="tag">#<span>Cats</span></a>`
    assert.include(shown(link), `href="/tags/cats"`)
    assert.include(shown(`<a href="https://there.example/x">#dogs</a>`), `href="https://there.example/x"`)
    assert.include(shown(`<a href="https://there.example/x">cats</a>`), `href="https://there.example/x"`)
  })

  it("is one line of whole characters without markup, or its content warning", () => {
    const content = `<p>Tom &amp; <b>J</b>erry</p><p>#<span>cats</span><br>\u{1F600}\u{1F600}</p>`
    assert.strictEqual(lineOfStatus({ content, spoilerText: "" }, 40), "Tom & Jerry #cats \u{1F600}\u{1F600}")
    assert.strictEqual(lineOfStatus({ content: "\u{1F600}".repeat(5), spoilerText: "" }, 3), "\u{1F600}\u{1F600}…")
    assert.strictEqual(lineOfStatus({ content, spoilerText: "Cats" }, 40), "Cats")
  })
})

describe("times of a page", () => {
  const at = "2090-01-02T10:00:00.000Z"

  it("F229: a future time is a date with its time of day, a past one is relative for a week", () => {
    assert.match(
      String(endOf(english, at)),
      /^<time datetime="2090-01-02T10:00:00\.000Z">Jan 2, 2090.*10:00.*UTC<\/time>$/
    )
    const moment = Date.parse(at)
    assert.include(String(timeOf(english, at, moment + 3_600_000)), "1h ago")
    assert.include(String(timeOf(english, at, moment + 30 * 86_400_000)), ">January 2, 2090<")
  })

  it("a date beyond the year 9999 is shown as a date", () => {
    const late = "+012026-01-02T10:00:00.000Z"
    assert.include(String(endOf(english, late)), "12026")
    assert.include(String(timeOf(english, late, 0)), "now")
  })
})
