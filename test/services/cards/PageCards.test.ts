import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { embeddingOf } from "../../../src/services/cards/Embeddings.ts"
import { pageCard } from "../../../src/services/cards/PageCards.ts"
import { readPage } from "../../../src/services/cards/PageMetadata.ts"
import { slowness } from "../../support/MachineSpeed.ts"

const pageUrl = "https://news.example.org/story?id=1"

const read = (html: string, response?: unknown) =>
  Effect.runSync(Effect.map(readPage(html), (page) => pageCard(page, pageUrl, embeddingOf(response, pageUrl))))

const head = (...elements: ReadonlyArray<string>) =>
  `<!doctype html><html lang="de-AT"><head>${elements.join("")}</head>`

describe("cards of pages", () => {
  it("OpenGraph: title, description, picture with its description, provider, language, time and creator", () => {
    const found = read(head(
      "<title>Ignored</title>",
      `<meta property="og:title" content="A &amp; B &lt;3">`,
      `<meta property="og:description" content="What  happened\n today">`,
      `<meta property="og:image" content="/pictures/a.jpg">`,
      `<meta property="og:image:alt" content="A picture">`,
      `<meta property="og:site_name" content="The News">`,
      `<meta property="og:locale" content="en_US">`,
      `<meta property="article:published_time" content="2026-05-01T10:00:00+02:00">`,
      `<meta name="fediverse:creator" content="@ada@writers.example">`
    ))
    assert.deepStrictEqual(found, {
      card: {
        title: "A & B <3",
        description: "What happened today",
        language: "en",
        type: "link",
        authorName: "",
        authorUrl: "",
        providerName: "The News",
        providerUrl: "",
        html: "",
        width: 0,
        height: 0,
        embedUrl: "",
        imageDescription: "A picture",
        publishedAt: Date.parse("2026-05-01T08:00:00Z")
      },
      imageUrl: "https://news.example.org/pictures/a.jpg",
      creator: "@ada@writers.example"
    })
  })

  it("falls back to the page's title and language; a picture's title does not count", () => {
    const found = read(
      head(
        "<svg><title>Arrow</title></svg>",
        "<title> Just\n a title </title>",
        `<meta name="description" content="d">`
      )
    )
    assert.deepInclude(found?.card, { title: "Just a title", description: "d", language: "de", type: "link" })
    assert.isUndefined(found?.imageUrl)
  })

  it("JSON-LD takes precedence over OpenGraph, in graphs and lists and with common wrappers", () => {
    const data = {
      "@context": "https://schema.org",
      "@graph": [{ "@type": "Organization", name: "x" }, {
        "@type": ["NewsArticle", "Article"],
        headline: "Tom &#8217;s story",
        description: "By <b>us</b>",
        inLanguage: [{ "@type": "Language", alternateName: "fr-CA" }],
        datePublished: "2026-01-02",
        author: [{ "@type": "Person", name: "Tom", url: "/people/tom" }],
        publisher: { "@type": "Organization", name: "Le Journal" },
        image: [{ "@type": "ImageObject", url: "https://cdn.example.org/a.png" }]
      }]
    }
    const found = read(head(
      `<meta property="og:title" content="Other">`,
      `<script type="application/ld+json">{broken</script>`,
      `<script type="application/ld+json">\n//<![CDATA[\n${JSON.stringify(data)}\n//]]>\n</script>`
    ))
    assert.deepInclude(found?.card, {
      title: "Tom ’s story",
      description: "By us",
      language: "fr",
      authorName: "Tom",
      authorUrl: "https://news.example.org/people/tom",
      providerName: "Le Journal",
      publishedAt: Date.parse("2026-01-02T00:00:00Z")
    })
    assert.strictEqual(found?.imageUrl, "https://cdn.example.org/a.png")
  })

  it("a page without a title has no card", () => {
    assert.isUndefined(read(head(`<meta property="og:image" content="/a.png">`)))
    assert.isUndefined(read(""))
    assert.isUndefined(read(`<meta property="og:title" content="&#8203; \u0000 ">`)?.card.title.trim() || undefined)
  })

  it("oEmbed: a video of the page's own site becomes a newly written frame, a photo its address", () => {
    const video = {
      version: "1.0",
      type: "video",
      title: "A video",
      author_name: "Ann",
      author_url: "https://news.example.org/ann",
      provider_name: "News TV",
      provider_url: "https://news.example.org/",
      thumbnail_url: "https://cdn.example.org/t.jpg",
      width: 480,
      height: "270",
      html: `<script>alert(1)</script><iframe onload="alert(2)" srcdoc="<script>alert(3)</script>"
        style="position:fixed" src="https://player.news.example.org/v/1?a=1&b=2"></iframe>`
    }
    const found = read(head("<title>Page</title>"), video)
    assert.deepInclude(found?.card, {
      type: "video",
      title: "A video",
      authorName: "Ann",
      authorUrl: "https://news.example.org/ann",
      providerName: "News TV",
      width: 480,
      height: 270,
      html:
        `<iframe src="https://player.news.example.org/v/1?a=1&amp;b=2" width="480" height="270" allowfullscreen="true" ` +
        `frameborder="0" scrolling="no" sandbox="allow-scripts allow-same-origin allow-popups ` +
        `allow-popups-to-escape-sandbox allow-forms"></iframe>`
    })
    assert.strictEqual(found?.imageUrl, "https://cdn.example.org/t.jpg")
    const photo = read(head("<title>Page</title>"), {
      version: "1.0",
      type: "photo",
      url: "https://cdn.example.org/p.jpg",
      width: 640,
      height: 480
    })
    assert.deepInclude(photo?.card, {
      type: "photo",
      embedUrl: "https://cdn.example.org/p.jpg",
      html: "",
      width: 640,
      height: 480
    })
    assert.strictEqual(photo?.imageUrl, "https://cdn.example.org/p.jpg")
  })

  it("row 42: no frame of another site, without TLS, of a script or with a document in it", () => {
    const frames = [
      `<iframe src="https://evil.example.net/"></iframe>`,
      `<iframe src="https://news.example.org.evil.test/"></iframe>`,
      `<iframe src="http://news.example.org/"></iframe>`,
      `<iframe src="javascript:alert(1)"></iframe>`,
      `<iframe src="data:text/html,<script>alert(1)</script>"></iframe>`,
      `<iframe srcdoc="<script>alert(1)</script>"></iframe>`,
      `<iframe src="https://user@news.example.org/"></iframe>`,
      `<iframe src="https://news.example.org:8443/"></iframe>`,
      `<embed src="https://news.example.org/x.swf">`,
      `<object data="https://news.example.org/x"></object>`,
      `<iframe<iframe src="https://evil.example.net/">>`,
      `<script src="https://news.example.org/x.js"></script>`
    ]
    for (const html of frames) {
      const found = read(head("<title>t</title>"), { version: "1.0", type: "video", html, width: 1, height: 1 })
      assert.deepInclude(found?.card, { type: "link", html: "" }, html)
    }
    for (const type of ["rich", "link"]) {
      const html = `<iframe src="https://news.example.org/"></iframe>`
      assert.strictEqual(read(head("<title>t</title>"), { version: "1.0", type, html })?.card.html, "", type)
    }
    const player = head("<title>t</title>", `<meta name="twitter:player" content="https://evil.example.net/p">`)
    assert.strictEqual(read(player)?.card.type, "link")
    // Quotes inside an attribute do not end it.
    const escaping = `<iframe src='https://news.example.org/"onload="alert(1)'></iframe>`
    const cardHtml = read(head("<title>t</title>"), { version: "1.0", type: "video", html: escaping })?.card.html ?? ""
    assert.notInclude(cardHtml, `"onload`)
  })

  it("hostile pages cannot exceed the limits of size, type and scheme", () => {
    const found = read(head(
      `<meta property="og:title" content="${"𝄞".repeat(5_000)}">`,
      `<meta property="og:description" content="${"x ".repeat(50_000)}">`,
      `<meta property="og:image" content="javascript:alert(1)">`,
      `<meta property="twitter:player:stream" content="file:///etc/passwd">`,
      `<meta property="twitter:player:width" content="99999999999">`,
      `<meta property="og:locale" content="<b>">`,
      `<meta property="article:published_time" content="+275760-09-13">`,
      ...Array.from({ length: 10_000 }, (_, at) => `<meta name="m${at}" content="${at}">`)
    ))
    assert.strictEqual(Array.from(found?.card.title ?? "").length, 300)
    assert.isTrue(found?.card.title.isWellFormed())
    assert.isAtMost(found?.card.description.length ?? 0, 1_000)
    assert.deepInclude(found?.card, { language: "de", width: 0, embedUrl: "", html: "" })
    assert.isUndefined(found?.imageUrl)
    assert.strictEqual(new Date(found?.card.publishedAt ?? 0).getUTCFullYear(), 9999)
    for (
      const response of [null, 7, [], "x", { version: "2.0", type: "video" }, { version: "1.0", type: {}, html: [] }]
    ) {
      assert.strictEqual(read(head("<title>t</title>"), response)?.card.type, "link")
    }
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    assert.strictEqual(
      read(head("<title>t</title>", `<script type="application/ld+json">${deep}</script>`))?.card.title,
      "t"
    )
  })

  it("row 35: a page of a megabyte of any text does not block others", async () => {
    const hostile = [
      "<".repeat(1_000_000),
      `<meta ${"a=b ".repeat(250_000)}>`,
      "<title>".repeat(140_000),
      `<script type="application/ld+json">${"<!--".repeat(240_000)}`,
      "&".repeat(1_000_000),
      `<a href="${"'".repeat(900_000)}`,
      "<div>".repeat(200_000),
      `<meta ${Array.from({ length: 100_000 }, (_, at) => `a${at}=b `).join("")}>`
    ]
    const spent = () => process.cpuUsage().user / 1_000
    for (const html of hostile) {
      const began = spent()
      let longest = 0
      const watched = { over: false }
      let before = began
      const watch = async () => {
        while (!watched.over) {
          await new Promise((resolve) => setImmediate(resolve))
          longest = Math.max(longest, spent() - before)
          before = spent()
        }
      }
      const watching = watch()
      await Effect.runPromise(readPage(html))
      watched.over = true
      await watching
      const all = spent() - began
      const slower = slowness()
      assert.isBelow(longest, 200 * slower, `milliseconds of one turn: ${html.slice(0, 20)}`)
      assert.isBelow(all, 1_500 * slower, `milliseconds in all: ${html.slice(0, 20)}`)
    }
  })
})
