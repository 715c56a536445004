import { assert, describe, it } from "@effect/vitest"
import { posix } from "node:path"
import { staticManual } from "../../../src/http/docs/StaticManual.ts"

const site = staticManual(
  new Map([
    [
      "docs/guide/index.md",
      "# Guide\n\nSee [second](storage.md) and [first](moving.md#a-part), [source](../../src/x.ts).\n"
    ],
    ["docs/guide/moving.md", "# First\n\n<!-- not run: a reason -->\n\n    npm start\n\n## A part\n\n## A part\n"],
    ["docs/guide/storage.md", "# Second & last\n\n| Name | |\n|---|---|\n| <b>1</b> | [up](../../README.md) |\n"],
    ["README.md", "# Read me\n\n[other](https://example.org/), [guide](docs/guide/index.md)\n"]
  ])
)
const page = (name: string) => site.get(name) ?? ""

describe("the site of the documents", () => {
  it("has a page for each document and a stylesheet, with relative links", () => {
    assert.deepStrictEqual([...site.keys()].toSorted(), [
      "README.html",
      "guide/moving.html",
      "guide/storage.html",
      "index.html",
      "style.css"
    ])
    const broken = [...site].flatMap(([name, text]) =>
      Array.from(text.matchAll(/href="([^"#:]+)[^"]*"/g), ([, href = ""]) => posix.join(posix.dirname(name), href))
        .filter((target) => !site.has(target) && !target.startsWith("https")).map((target) => `${name}: ${target}`)
    )
    assert.deepStrictEqual(broken, [])
    assert.include(page("index.html"), "<a href=\"guide/moving.html#a-part\">first</a>")
    assert.include(page("guide/storage.html"), "<a href=\"../README.html\">up</a>")
    assert.include(page("README.html"), "<a href=\"https://example.org/\">other</a>")
  })

  it("shows a link to another file of the repository as text", () => {
    assert.include(page("index.html"), "</a>, source.</p>")
  })

  it("lists the pages of the guide in the order of its first page", () => {
    const list = Array.from(page("README.html").matchAll(/<li><a href="guide\/(\w+)/g), ([, name = ""]) => name)
    assert.deepStrictEqual(list, ["storage", "moving"])
  })

  it("omits comments for tests, escapes HTML, and keeps anchors unique", () => {
    assert.notInclude(page("guide/moving.html"), "not run")
    assert.match(page("guide/moving.html"), /<h2 id="a-part">.*<h2 id="a-part-1">/s)
    assert.include(page("guide/storage.html"), "&lt;b&gt;1&lt;/b&gt;")
    assert.include(page("guide/storage.html"), "<title>Second &amp; last · Murmuration</title>")
    assert.match(page("guide/storage.html"), /<th>Name<\/th>\s*<td><\/td>/)
  })
})
