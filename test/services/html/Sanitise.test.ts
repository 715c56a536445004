import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { plainText } from "../../../src/services/html/PlainText.ts"
import { nestingMax, sanitise } from "../../../src/services/html/Sanitise.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"
import { payloads } from "./payloads.ts"
import { problems } from "./strict.ts"

describe("row 41", () => {
  it("has a corpus of 200 payloads", () => assert.isAtLeast(new Set(payloads).size, 200))

  it.each(payloads)("%j leaves nothing but allowed HTML", (payload) => {
    assert.deepStrictEqual(problems(sanitise(bounded(payload))), [])
    assert.deepStrictEqual(problems(sanitise(bounded(`<p>before ${payload} after</p>`))), [])
  })

  it.prop("so do combined payloads, and a second pass changes nothing", [
    Schema.Array(Schema.Literals(payloads)).check(Schema.isMaxLength(6))
  ], ([chosen]) => {
    const once = sanitise(bounded(chosen.join("")))
    assert.deepStrictEqual(problems(once), [])
    assert.strictEqual(sanitise(bounded(once)), once)
  })

  it("the strict grammar finds bad HTML", () => {
    for (const bad of ["<p onclick=\"x\">x</p>", "<b>", "a < b", "<a href=\"javascript:x\">x</a>", "<!-- x -->"]) {
      assert.isAbove(problems(bad).length, 0, bad)
    }
  })
})

describe("allowed HTML", () => {
  it.each<[string, string]>([
    ["<p>a<br>b</p>", "<p>a<br />b</p>"],
    [
      `<a href="https://a.example/@b" class="u-url mention x" rel="tag">b</a>`,
      `<a href="https://a.example/@b" class="u-url mention" rel="nofollow noopener tag" target="_blank">b</a>`
    ],
    [`<p>a<audio><p>b</p></audio></p>`, "<p>a</p><p>b</p><p></p>"],
    [`<span class="invisible">x</span>`, `<span class="invisible">x</span>`],
    [`<h2 class="x">Title</h2>`, "<p><strong>Title</strong></p>"],
    [`<ol start="3" reversed><li value="2">x</li></ol>`, `<ol start="3" reversed><li value="2">x</li></ol>`],
    [`<p lang="pt-BR">x</p>`, `<p lang="pt-BR">x</p>`],
    ["<del>a</del><blockquote><em>b</em></blockquote>", "<del>a</del><blockquote><em>b</em></blockquote>"],
    ["<div><img alt=x>text</div>", "text"],
    [
      `<a href="magnet:?xt=urn:btih:x">m</a>`,
      `<a href="magnet:?xt=urn:btih:x" rel="nofollow noopener" target="_blank">m</a>`
    ]
  ])("%s", (html, expected) => assert.strictEqual(sanitise(bounded(html)), expected))

  it.each<[string, string]>([
    [
      "<p>comes <s>not</s>, <strike>today</strike>, <del>x</del></p>",
      "<p>comes <s>not</s>, <s>today</s>, <del>x</del></p>"
    ],
    [
      "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>",
      "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>"
    ]
  ])(
    "F81: struck text and ruby readings are kept: %s",
    (html, expected) => assert.strictEqual(sanitise(bounded(html)), expected)
  )

  it("bounds the depth of elements", () => {
    const deep = sanitise(bounded("<b>".repeat(1000) + "x"))
    assert.isAtMost(deep.split("<b>").length - 1, nestingMax)
  })

  it("returns the text of a document", () => {
    assert.strictEqual(
      plainText(bounded("<p>a &amp; b<br>c &lt;x&gt;</p><p>d&eacute; <b>&quot;e&quot;</b></p>")),
      "a & b\nc <x>\n\ndé \"e\""
    )
    assert.strictEqual(plainText(bounded("<p>&amp;lt;</p><script>x</script>")), "&lt;")
  })
})
