import { assert, describe, it } from "@effect/vitest"
import { contentOf } from "../../../src/http/web/status/Text.ts"

const tag = { name: "cats", url: "https://here.example/tags/cats" }
const shown = (content: string) => String(contentOf({ content, emojis: [], mentions: [], tags: [tag] }))

describe("the text of a post", () => {
  it("leads hashtags of other servers to our page, and no other link", () => {
    const link = `<a href="https://there.example/tags/Cats" class="mention hashtag" rel="tag">#<span>Cats</span></a>`
    assert.include(shown(link), `href="/tags/cats"`)
    assert.include(shown(`<a href="https://there.example/x">#dogs</a>`), `href="https://there.example/x"`)
    assert.include(shown(`<a href="https://there.example/x">cats</a>`), `href="https://there.example/x"`)
  })
})
