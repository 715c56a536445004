import { assert, describe, it } from "@effect/vitest"
import { withEmojis } from "../../../src/http/html/EmojiText.ts"
import { html, raw } from "../../../src/http/html/Html.ts"

const emoji = {
  id: 1n,
  shortcode: "party",
  url: "https://here.test/moving.gif",
  staticUrl: `https://here.test/still.png?a="b"`,
  visibleInPicker: true,
  category: null
}
const picture =
  `<img class="emoji" src="https://here.test/still.png?a=&quot;b&quot;" alt=":party:" title=":party:" loading="lazy">`

describe("emoji on pages", () => {
  it("replace their shortcodes, in text only and escaped", () => {
    const show = (markup: string) => String(withEmojis(raw(markup), [emoji]))
    assert.strictEqual(show("<p>a :party: b :other: c</p>"), `<p>a ${picture} b :other: c</p>`)
    assert.strictEqual(
      show(`<a href="https://x.test/:party:" title=":party:">:party:</a>`),
      `<a href="https://x.test/:party:" title=":party:">${picture}</a>`
    )
    assert.strictEqual(show("no emoji, 10:30:45"), "no emoji, 10:30:45")
    assert.strictEqual(
      String(withEmojis(html`${"<script>:party:</script>"}`, [emoji])),
      `&lt;script&gt;${picture}&lt;/script&gt;`
    )
  })
})
