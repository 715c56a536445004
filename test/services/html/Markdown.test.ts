import { assert, describe, it } from "@effect/vitest"
import { markdown, markdownTokens } from "../../../src/services/html/Markdown.ts"
import { sanitise } from "../../../src/services/html/Sanitise.ts"
import { tooLong } from "../../../src/services/html/Text.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"
import { best, fill } from "../../support/MachineSpeed.ts"
import { payloads } from "./payloads.ts"

const anna = { url: "https://here.example/@anna", username: "anna", acct: "anna" }
const meaning = {
  mentions: new Map([["anna", anna]]),
  tagUrl: (name: string) => `https://here.example/tags/${name}`
}
const html = (source: string) => markdown(source, meaning)
const found = (source: string) => markdownTokens(source).map(({ text }) => text)

const link = (href: string, text: string) => `<a href="${href}" rel="nofollow noopener" target="_blank">${text}</a>`

describe("Markdown", () => {
  it("becomes HTML that posts may contain", () => {
    const cases: ReadonlyArray<readonly [source: string, expected: string]> = [
      ["plain", "<p>plain</p>"],
      ["one\ntwo\n\nthree", "<p>one<br />two</p><p>three</p>"],
      ["**bold** and *slanted* and ~~gone~~", "<p><strong>bold</strong> and <em>slanted</em> and <del>gone</del></p>"],
      ["# Head\ntext", "<p><strong>Head</strong></p><p>text</p>"],
      ["- a\n- b", "<ul><li>a</li><li>b</li></ul>"],
      ["3. a\n4. b", `<ol start="3"><li>a</li><li>b</li></ol>`],
      ["> said\n\nanswer", "<blockquote><p>said</p></blockquote><p>answer</p>"],
      ["`<b>` & `@anna #cat`", "<p><code>&lt;b&gt;</code> &amp; <code>@anna #cat</code></p>"],
      ["```js\nif (a < b) {\n  #no @anna\n}\n```", "<pre><code>if (a &lt; b) {\n  #no @anna\n}\n</code></pre>"],
      ["[words](https://x.example/a)", `<p>${link("https://x.example/a", "words")}</p>`],
      ["<https://x.example/a>", `<p>${link("https://x.example/a", "https://x.example/a")}</p>`],
      ["![a cat](https://x.example/a.png)", `<p>!${link("https://x.example/a.png", "a cat")}</p>`],
      ["a <b>tag</b> <script>x</script>", "<p>a &lt;b&gt;tag&lt;/b&gt; &lt;script&gt;x&lt;/script&gt;</p>"],
      ["\\*not\\* 1 * 2 * 3", "<p>*not* 1 * 2 * 3</p>"],
      [":blobcat: *:blobcat:*", "<p>:blobcat: <em>:blobcat:</em></p>"],
      // Only marks, and mark-up without visible content.
      ["***", "<p>***</p>"],
      [">", "<p>&gt;</p>"],
      ["[]()", "<p>[]()</p>"],
      ["", ""]
    ]
    for (const [source, expected] of cases) assert.strictEqual(html(source), expected, source)
  })

  it("mentions, hashtags and addresses are found as in plain text, except in code and names of links", () => {
    assert.deepStrictEqual(
      found("**@anna**, #cats_dogs, https://x.example/a_b_c*d*, [@anna #no](https://x.example/) `#no` \n\n    #no"),
      ["@anna", "#cats_dogs", "https://x.example/a_b_c*d"]
    )
    assert.include(
      html("*@anna* #cat"),
      `<em><span class="h-card" translate="no"><a href="https://here.example/@anna" class="u-url mention"`
    )
    assert.include(html("*@anna* #cat"), `<a href="https://here.example/tags/cat" class="mention hashtag"`)
    assert.include(html("**https://x.example/a**"), `<strong><a href="https://x.example/a"`)
    assert.include(html("nobody: @ben"), "nobody: @ben")
    assert.deepStrictEqual(found("`@anna` ```x``` ~~~\n@anna"), ["@anna"])
  })

  it("row 14: addresses that are scripts lead nowhere, and hostile HTML stays text", () => {
    const addresses = [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "vbscript:x",
      "data:text/html,<script>x</script>",
      "file:///etc/passwd",
      "&#x6a;avascript:alert(1)",
      "/relative",
      "//x.example"
    ]
    for (const address of addresses) {
      for (const source of [`[x](${address})`, `[x](<${address}>)`, `<${address}>`]) {
        assert.notMatch(html(source), /href="(?!https:\/\/x\.example)/, source)
      }
    }
    for (const payload of payloads) {
      const rendered = html(payload)
      assert.strictEqual(rendered, sanitise(bounded(rendered)), payload)
      assert.notMatch(rendered, /<(?:script|img|iframe|style|svg|math|form|input)\b/i, payload)
      assert.notMatch(rendered, /<[^>]*\son\w+=/i, payload)
    }
  })

  it("row 35: deep nesting, long addresses and endless marks do not block others", () => {
    const address = `https://x.example/${fill("a_*~(b)-$+", 2_000)}`
    const hostile = [
      ...[
        "*",
        "_",
        "~",
        "[",
        "(",
        "`",
        "<",
        ">",
        "> ",
        "- ",
        "*a_ ",
        "[a](",
        "![",
        "**a ",
        "~~a",
        "\\",
        "&",
        "a**",
        "``` "
      ]
        .map((seed) => fill(seed, 500)),
      ...["* a\n", "> a\n", "1. a\n", "# a\n", "a\n-\n", "```\n", "    a\n"].map((seed) => fill(seed, 500)),
      fill("[a](", 250) + fill(")", 250),
      Array.from({ length: 20 }, () => address).join(" "),
      Array.from({ length: 15 }, () => `[a](https://x.example/${fill("a_*~", 1_900)}z)`).join(" "),
      `${fill("*_", 200)}${address}${fill("_*", 200)}`,
      fill(`a${"\u0301".repeat(100)}*`, 20_000)
    ]
    for (const source of hostile) {
      assert.isFalse(tooLong(source), source.slice(0, 40))
      assert.isBelow(best(() => html(source)), 50, source.slice(0, 40))
      assert.isBelow(best(() => markdownTokens(source)), 50, source.slice(0, 40))
    }
    // Text refused for its length is not parsed.
    assert.isTrue(tooLong(fill("*a_ ", 5_000)))
  })

  it("deep nesting is cut, and the rest remains a post", () => {
    assert.isBelow((html(`${"> ".repeat(200)}deep`).match(/<blockquote>/g) ?? []).length, 33)
    assert.include(html(`${"> ".repeat(10)}deep`), "deep")
  })
})
