import { assert, describe, it } from "@effect/vitest"
import { contentOf, lineOfStatus } from "../../../src/http/web/status/Text.ts"

const tag = { name: "cats", url: "https://here.example/tags/cats" }
const shown = (content: string) => String(contentOf({ content, emojis: [], mentions: [], tags: [tag] }))

describe("the text of a post", () => {
  it("leads hashtags of other servers to our page, and no other link", () => {
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
