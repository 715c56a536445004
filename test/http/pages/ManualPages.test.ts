import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { documents } from "../../support/documents.ts"
import { TestServer } from "../../support/Server.ts"
import { problems } from "./strictPage.ts"

/** Returns the path of a document's page. */
const pathOf = (document: string) =>
  document === "docs/guide/index.md" ? "/docs" : `/docs/${document.replace(/^docs\//, "").replace(/\.md$/, "")}`

layer(TestServer.layer(), { excludeTestServices: true })("the guides on the server", (it) => {
  const page = (path: string) =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const response = yield* fetch(path, { headers: { accept: "text/html" } })
      return { status: response.status, text: yield* Effect.promise(() => response.text()) }
    })

  it.effect("every document but the longest has a page; its links lead to existing pages and headings", () =>
    Effect.gen(function*() {
      assert.isAbove(documents.size, 40)
      const texts = new Map<string, string>()
      // Too long to be rendered while others wait.
      assert.strictEqual((yield* page("/docs/tables")).status, 404)
      for (const document of documents.keys()) {
        if (document === "docs/tables.md") continue
        const { status, text } = yield* page(pathOf(document))
        assert.strictEqual(status, 200, document)
        assert.deepStrictEqual(problems(text), [], document)
        texts.set(pathOf(document), text)
      }
      const wrong = [...texts].flatMap(([from, text]) =>
        Array.from(text.matchAll(/<a href="((?:\/docs|#)[^"]*)"/g), ([, href = ""]) => href).filter((href) => {
          const [path = "", anchor] = href.split("#")
          const target = texts.get(path === "" ? from : path)
          // The skip link leads to an anchor of the frame.
          return target === undefined || (anchor !== undefined && !target.includes(` id="${anchor}"`))
        }).map((href) => `${from}: ${href}`)
      )
      assert.deepStrictEqual(wrong, [])
      assert.include(texts.get("/docs/guide/first-hour"), "<pre tabindex=\"0\"><code>npm run cli -- doctor")
      assert.notInclude(texts.get("/docs/guide/moving"), "not run")
    }))

  it.effect("other paths are missing, in whatever spelling; the front page and the page about the server link to the guide", () =>
    Effect.gen(function*() {
      for (const path of ["/docs/nothing", "/docs/../package.json", "/docs/..%2fpackage", "/docs/guide/index.md"]) {
        assert.strictEqual((yield* page(path)).status, 404, path)
      }
      for (const path of ["/", "/about"]) assert.include((yield* page(path)).text, "href=\"/docs\"")
    }))
})
