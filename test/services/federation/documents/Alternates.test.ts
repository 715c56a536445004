import { assert, describe, it } from "@effect/vitest"
import { alternateIn, pageBytesMax } from "../../../../src/services/federation/documents/Alternates.ts"

const url = "https://else.test/@zoe/1"
const inPage = (value: string) => alternateIn({ url, link: "", value })
const inHeader = (link: string) => alternateIn({ url, link, value: "" })
const link = (href: string) => `<link rel="alternate" type="application/activity+json" href="${href}">`

describe("links from a page to its object", () => {
  for (
    const [header, expected] of [
      ["</1>; rel=\"alternate\"; type=\"application/activity+json\"", "https://else.test/1"],
      ["</x>; rel=lrdd, </1>; type=application/activity+json; rel=alternate", "https://else.test/1"],
      ["<https://b.test/a,b>; rel=\"me alternate\"; type=\"application/activity+json\"", "https://b.test/a,b"],
      [
        "</1>; rel=\"alternate\"; type=\"application/ld+json; profile=https://www.w3.org/ns/activitystreams\"",
        "https://else.test/1"
      ],
      ["</1>; rel=\"alternate\"; type=\"application/json\"", undefined],
      ["</1>; rel=\"alternate\"; type=\"application/ld+json\"", undefined],
      ["</1>; rel=\"self\"; type=\"application/activity+json\"", undefined],
      ["/1; rel=\"alternate\"; type=\"application/activity+json\"", undefined],
      ["<", undefined],
      ["", undefined]
    ] as const
  ) {
    it(`a header ${header}`, () => assert.strictEqual(inHeader(header), expected))
  }

  it("a link element, anywhere at the beginning of the page, and no text that looks like one", () => {
    assert.strictEqual(inPage(`<html><head>${link("/1")}</head></html>`), "https://else.test/1")
    assert.strictEqual(inPage(`<p>broken<<${link("https://else.test/2?a=1&amp;b=2")}`), "https://else.test/2?a=1&b=2")
    assert.strictEqual(inPage(link("/1").toUpperCase().replace("/1", "/1")), "https://else.test/1")
    assert.isUndefined(inPage(`<!-- ${link("/1")} -->`))
    assert.isUndefined(inPage(`<p title='${link("/1")}'>x</p>`))
    assert.isUndefined(inPage(link("https://")))
    assert.isUndefined(inPage("x".repeat(pageBytesMax) + link("/1")))
  })
})
