import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { field, type Meaning, paragraphs } from "../../../src/services/html/Compose.ts"
import { sanitise } from "../../../src/services/html/Sanitise.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"
import { problems } from "./strict.ts"

const meaning: Meaning = {
  mentions: new Map([
    ["alice", { url: "https://here.example/@alice", username: "alice", acct: "alice" }],
    ["alice@xn--rzte-koa.de", { url: "https://ärzte.de/@alice", username: "alice", acct: "alice@ärzte.de" }],
    ["bob@remote.example", { url: "https://remote.example/u?a=1&b=2", username: "Bob", acct: "Bob@remote.example" }]
  ]),
  tagUrl: (name) => `https://here.example/tags/${encodeURIComponent(name)}`
}
const html = (source: string) => paragraphs(source, meaning)

describe("HTML as clients know it", () => {
  it("makes paragraphs and breaks", () => {
    assert.strictEqual(html("one\ntwo\r\n\r\n\r\nthree\n"), "<p>one<br />two</p><p>three</p>")
    assert.strictEqual(html(" \n "), "")
  })

  it("escapes everything else", () => {
    assert.strictEqual(html(`<b onx="1">&amp;'`), "<p>&lt;b onx=&quot;1&quot;&gt;&amp;amp;&#39;</p>")
  })

  it("shows 30 characters of a link and hides the rest", () => {
    assert.strictEqual(
      html("https://www.example.org/?q=\"abcdefghijklmnopqrstuvwxyz\"&x=1"),
      `<p><a href="https://www.example.org/?q=&quot;abcdefghijklmnopqrstuvwxyz&quot;&amp;x=1" rel="nofollow noopener" ` +
        `target="_blank" translate="no"><span class="invisible">https://www.</span>` +
        `<span class="ellipsis">example.org/?q=&quot;abcdefghijklmn</span>` +
        `<span class="invisible">opqrstuvwxyz&quot;&amp;x=1</span></a></p>`
    )
    assert.strictEqual(
      html("http://a.b"),
      `<p><a href="http://a.b" rel="nofollow noopener" target="_blank" translate="no">` +
        `<span class="invisible">http://</span><span class="">a.b</span><span class="invisible"></span></a></p>`
    )
  })

  it("links mentions of known accounts", () => {
    assert.strictEqual(
      html("@Bob@Remote.Example @nobody"),
      `<p><span class="h-card" translate="no"><a href="https://remote.example/u?a=1&amp;b=2" class="u-url mention">` +
        `@<span>Bob</span></a></span> @nobody</p>`
    )
  })

  it("shows the domain of the second of two people with one name", () => {
    const shown = [...html("@alice @alice@ärzte.de @alice").matchAll(/@<span>([^<]*)/g)].map(([, name]) => name)
    assert.deepStrictEqual(shown, ["alice", "alice@ärzte.de", "alice"])
  })

  it("links hashtags as they are written", () => {
    assert.strictEqual(
      html("#Zürich"),
      `<p><a href="https://here.example/tags/Z%C3%BCrich" class="mention hashtag" rel="tag">#<span>Zürich</span></a></p>`
    )
  })

  it("puts a profile field on one line with rel=me and whole handles", () => {
    assert.strictEqual(
      field(" https://a.b ", meaning),
      `<a href="https://a.b" rel="me nofollow noopener" target="_blank" translate="no">` +
        `<span class="invisible">https://</span><span class="">a.b</span><span class="invisible"></span></a>`
    )
    assert.include(field("@bob@remote.example", meaning), "@<span>Bob@remote.example</span>")
  })
})

const pieces1: ReadonlyArray<string> = [
  "<script>",
  "&",
  "\"",
  "'",
  "<",
  ">",
  "https://a.b/\"><b>",
  "http://a.b/&quot;",
  "@alice"
]
const pieces2: ReadonlyArray<string> = ["#x\"y", "\n", "\n\n", " ", "javascript:", "`", "&#60;", "<!--", "-->", "]]>"]
const pieces3: ReadonlyArray<string> = ["https://a.b/<script>", "@bob@remote.example", "😀"]
const Piece = Schema.Literals([...pieces1, ...pieces2, ...pieces3])
it.prop("row 41: any text becomes only our own markup", [Schema.Array(Piece)], ([pieces]) => {
  const composed = html(pieces.join(""))
  assert.deepStrictEqual(problems(composed), [])
  assert.deepStrictEqual(problems(sanitise(bounded(composed))), [])
})
