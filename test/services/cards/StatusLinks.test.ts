import { assert, describe, it } from "@effect/vitest"
import { IpNetwork } from "effect/net"
import { registrableDomain } from "../../../src/services/cards/Sites.ts"
import { addressesInHtml, addressesInText, firstLink, linkOf } from "../../../src/services/cards/StatusLinks.ts"

const config = { publicUrl: "https://social.here.example", localDomain: "here.example", outboundAllow: [] }
const first = (addresses: ReadonlyArray<string>) => firstLink(config, addresses)?.url

describe("links with a card", () => {
  it("the first address in a text that leads to the web and not to this server", () => {
    assert.strictEqual(
      first(
        addressesInText(
          "@ada@far.example #tag https://here.example/@ada https://social.here.example/x https://a.example/b#c"
        )
      ),
      "https://a.example/b#c"
    )
    assert.isUndefined(first(addressesInText("@ada@far.example #tag no.link mailto:a@b.example ftp://a.example/b")))
    assert.isUndefined(first(["https://user:password@a.example/", "javascript:alert(1)", "https://", "//a.example"]))
    assert.isUndefined(first([`https://a.example/${"ä".repeat(1_000)}`]))
  })

  it("links of other servers' posts that are neither mentions nor hashtags, however they are marked", () => {
    const html = `<p><span class="h-card"><a href="https://far.example/@ben" class="u-url mention">@ben</a></span>
      <a href="https://far.example/tags/x" rel="tag">#x</a> <a href="https://far.example/hub" class="hashtag">x</a>
      <a href="https://friendica.example/profile/cleo">@<span>cleo</span></a> <a href="https://old.example/t">#y</a>
      <a href="https://pages.example/story" rel="nofollow noopener">a story</a> <a href="https://second.example/">b</a></p>`
    assert.deepStrictEqual(addressesInHtml(html), ["https://pages.example/story", "https://second.example/"])
    assert.deepStrictEqual(addressesInHtml("<p>https://plain.example/</p>"), [])
  })

  it("a page is fetched once for all fragments, over TLS", () => {
    const [one, two] = [linkOf(config, "http://A.example/x?y#1"), linkOf(config, "https://a.example/x?y#2")]
    assert.strictEqual(one?.pageUrl, "https://a.example/x?y")
    assert.strictEqual(one?.pageKey, two?.pageKey)
    assert.notStrictEqual(one?.url, two?.url)
    const lab = { ...config, outboundAllow: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] }
    assert.strictEqual(linkOf(lab, "http://127.0.0.1:8080/x")?.pageUrl, "http://127.0.0.1:8080/x")
  })

  it("sites are registered domains", () => {
    assert.deepStrictEqual(
      ["a.b.example.co.uk", "x.github.io", "www.example.org", "127.0.0.1", "localhost"].map(registrableDomain),
      ["example.co.uk", "x.github.io", "example.org", "127.0.0.1", "localhost"]
    )
  })
})
