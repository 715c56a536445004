import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { foreignActor } from "../../../../src/services/federation/documents/ForeignActor.ts"
import {
  contentCharactersMax,
  foreignNote,
  futureMillisMax,
  hashtagsMax,
  mentionsMax
} from "../../../../src/services/federation/documents/ForeignNote.ts"
import { summaryCharactersMax, titleCharactersMax } from "../../../../src/services/federation/documents/ForeignPage.ts"
import { optionCharactersMax, optionsMax } from "../../../../src/services/federation/documents/ForeignPoll.ts"
import { urlReader } from "../../../../src/services/federation/documents/ForeignValues.ts"
import { jsonBytes } from "../../../../src/services/html/Text.ts"
import { accountBytesMax, statusBytesMax } from "../../../../src/services/instance/ContentLimits.ts"
import {
  foreignAttachmentsMax,
  foreignDescriptionCharactersMax
} from "../../../../src/services/instance/ForeignLimits.ts"

const author = { uri: "https://else.test/users/zoe", followersUrl: "https://else.test/users/zoe/followers" }
const now = Date.parse("2026-06-01T12:00:00Z")
const id = "https://else.test/notes/1"
const read = (more: Record<string, unknown>) =>
  foreignNote(
    { id, type: "Note", attributedTo: author.uri, to: ["as:Public"], content: "<p>x</p>", ...more },
    author,
    now,
    urlReader([])
  )
const at = (value: unknown) => read({ published: value })?.publishedMillis

describe("posts of other servers", () => {
  for (
    const [published, expected] of [
      ["2026-06-01T11:00:00Z", now - 3_600_000],
      ["2026-06-01T13:00:00+02:00", now - 3_600_000],
      ["2026-06-01T12:00:01Z", now],
      [new Date(now + futureMillisMax).toISOString(), now],
      [new Date(now + futureMillisMax + 1).toISOString(), undefined],
      ["2026-06-02T11:00:00Z", now],
      ["9999-12-31T23:59:59Z", undefined],
      ["+275760-09-13T00:00:00Z", undefined],
      ["1969-12-31T23:59:59Z", 0],
      ["0000-01-01T00:00:00Z", 0],
      ["-271821-04-20T00:00:00Z", 0],
      ["yesterday", now],
      ["", now],
      [undefined, now],
      [1_700_000_000, now],
      [["2026-06-01T11:00:00Z"], now]
    ] as const
  ) {
    it(`row 81 F89: dated ${JSON.stringify(published)} is ${expected === undefined ? "refused" : expected}`, () =>
      assert.strictEqual(at(published), expected))
  }

  it("row 81: an edit is never later than now", () => {
    assert.strictEqual(read({ updated: "2027-01-01T00:00:00Z" })?.updatedMillis, now)
    assert.isUndefined(read({ updated: "1960-01-01T00:00:00Z" })?.updatedMillis)
    assert.isUndefined(read({ updated: "x" })?.updatedMillis)
  })

  it("F89: a post with a future date that was not edited shows no edit", () => {
    const published = "2026-06-02T11:00:00Z"
    assert.isUndefined(read({ published, updated: published })?.updatedMillis)
    assert.strictEqual(read({ published, updated: "2026-06-02T11:30:00Z" })?.updatedMillis, now)
  })

  /**
   * A text of a hostile peer: pieces that grow when they are escaped or sanitised, one character of many code points,
   * or many copies of one.
   */
  const Hostile = Schema.Struct({
    piece: Schema.Literals(["&", "<", "\"", "\u0001", "\u0301", "\u{1f600}", "<b>", "<p>x", "\ud800", "a ", "&lt;"]),
    times: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 150_000 }))
  })
  const written = ({ piece, times }: typeof Hostile.Type) => piece.repeat(times)
  const bytes = (...texts: ReadonlyArray<string>) => texts.reduce((sum, text) => sum + jsonBytes(text), 0)

  it.prop("F13: a remote post takes at most 64 kB, and a remote account 16 kB", {
    content: Hostile,
    summary: Hostile,
    name: Hostile
  }, ({ content, name, summary }) => {
    const [text, warning, title] = [written(content), written(summary), written(name)]
    const note = read({
      type: "Question",
      content: text,
      summary: warning,
      contentMap: { [`en-${"a".repeat(40)}`]: text },
      oneOf: Array.from({ length: 60 }, (_, n) => ({ type: "Note", name: `${n}${title.slice(0, 3_000)}` })),
      tag: Array.from({ length: 60 }, (_, n) => ({ type: "Hashtag", name: `#t${n}${title.slice(0, 300)}` })),
      attachment: Array.from({ length: 5 }, (_, n) => ({ type: "Image", url: `https://f.test/${n}`, name: warning }))
    })
    const options = note?.poll?.options ?? []
    const told = [
      note?.html ?? "",
      note?.spoilerText ?? "",
      ...options,
      ...note?.attachments.map(({ description }) => description ?? "") ?? [],
      ...note?.tags.flatMap((tag) => [tag.name, tag.displayName]) ?? []
    ]
    assert.isAtMost(bytes(...told), statusBytesMax)
    assert.isAtMost(options.length, optionsMax)
    assert.isTrue(options.every((option) => option.length <= optionCharactersMax))
    assert.isNull(note?.language)
    assert.isTrue(told.every((text) => text.isWellFormed()))
    const actor = foreignActor(
      {
        id: author.uri,
        type: "Person",
        inbox: `${author.uri}/inbox`,
        preferredUsername: "zoe",
        name: title,
        summary: text,
        attachment: Array.from({ length: 60 }, () => ({ type: "PropertyValue", name: title, value: warning }))
      },
      new URL(author.uri),
      urlReader([])
    )
    const fields = actor?.fields.flatMap(({ html, name, value }) => [name, value, html]) ?? []
    assert.isAtMost(bytes(actor?.displayName ?? "", actor?.noteHtml ?? "", ...fields), accountBytesMax)
  }, { arbitrary: { runs: 40 } })

  it("row 39: values that are too long or too many are cut, values at the limit stay", () => {
    const tags = (type: string, more: (n: number) => object) =>
      Array.from({ length: 200 }, (_, n) => ({ type, ...more(n) }))
    for (const extra of [0, 1]) {
      const note = read({
        summary: "s".repeat(summaryCharactersMax + extra),
        attachment: [{
          type: "Document",
          mediaType: "image/png",
          url: "https://files.test/1",
          name: "n".repeat(foreignDescriptionCharactersMax + extra)
        }]
      })
      assert.strictEqual(
        read({ content: "x".repeat(contentCharactersMax + extra) })?.html.length,
        contentCharactersMax
      )
      assert.strictEqual(note?.spoilerText.length, summaryCharactersMax)
      assert.strictEqual(note?.attachments[0]?.description?.length, foreignDescriptionCharactersMax)
    }
    assert.lengthOf(read({ tag: tags("Hashtag", (n) => ({ name: `#t${n}` })) })?.tags ?? [], hashtagsMax)
    assert.lengthOf(
      read({ tag: tags("Mention", (n) => ({ href: `https://x.test/${n}` })) })?.mentioned ?? [],
      mentionsMax
    )
    const files = tags("Image", (n) => ({ url: `https://files.test/${n}` }))
    assert.lengthOf(read({ attachment: files })?.attachments ?? [], foreignAttachmentsMax)
  })

  it("row 14: only web addresses at the author's host are shown", () => {
    for (
      const scheme of [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "gopher://else.test/1",
        "ftp://else.test/1",
        "vbscript:x",
        "blob:https://else.test/1",
        "https://user@else.test/1",
        "https://evil.test/1"
      ]
    ) {
      assert.strictEqual(read({ url: scheme })?.url, id, scheme)
      assert.strictEqual(read({ url: [{ type: "Link", href: scheme }] })?.url, id, scheme)
      assert.isUndefined(read({ id: scheme }), scheme)
    }
  })

  it("the language is that of the shown text", () => {
    const contentMap = { de: "<p>ja</p>", en: "<p>yes</p>" }
    assert.deepInclude(read({ content: "<p>yes</p>", contentMap }), { html: "<p>yes</p>", language: "en" })
    assert.deepInclude(read({ content: undefined, contentMap }), { html: "<p>ja</p>", language: "de" })
    assert.deepInclude(read({ content: undefined, contentMap: { "zh-Hant": "<p>是</p>" } }), { language: "zh-Hant" })
    assert.isNull(read({ contentMap: { und: "<p>x</p>" } })?.language)
    assert.isNull(read({ contentMap: { "<script>": "<p>x</p>" } })?.language)
    assert.deepInclude(read({ summaryMap: { fr: "oh" } }), { spoilerText: "oh", language: "fr", sensitive: true })
  })

  it("invalid counts are ignored", () => {
    const shown = (value: unknown) => read({ likes: { totalItems: value }, shares: { totalItems: value } })
    assert.deepInclude(shown(7), { favourites: 7, reblogs: 7 })
    assert.deepInclude(shown(1e15), { favourites: 1_000_000_000 })
    for (const odd of [-1, 1.5, "7", null, {}, [7]]) assert.isUndefined(shown(odd)?.favourites)
    assert.isUndefined(read({ likes: "https://else.test/likes" })?.favourites)
  })
})

describe("objects that are not notes", () => {
  const page = "https://else.test/watch/1"
  it("S-009: is its title, its summary and a link, for every kind; its long text is not shown", () => {
    for (const type of ["Article", "Page", "Image", "Audio", "Video", "Event"]) {
      const shown = read({ type, name: "A <b>title", summary: "What it <i>is</i>", content: "<p>long</p>", url: page })
      assert.strictEqual(
        shown?.html,
        `<p><strong>A &lt;b&gt;title</strong></p><p>What it <i>is</i></p><p><a href="${page}" rel="nofollow noopener" target="_blank">${page}</a></p>`,
        type
      )
      assert.deepInclude(shown, { url: page, spoilerText: "", sensitive: false })
    }
    assert.isUndefined(read({ type: "Tombstone" }))
    assert.isUndefined(read({ type: "Person" }))
    assert.isUndefined(read({ type: "Create" }))
  })

  it("of a video's addresses the page for people is the link, and the file is attached", () => {
    const file = "https://files.else.test/1.mp4"
    const shown = read({
      type: "Video",
      name: "Film",
      attributedTo: [{ type: "Person", id: author.uri }, { type: "Group", id: "https://else.test/channels/1" }],
      icon: [{ type: "Image", url: "https://else.test/1.jpg" }],
      url: [
        { type: "Link", mediaType: "application/x-mpegURL", href: "https://else.test/1.m3u8" },
        { type: "Link", mediaType: "video/mp4", href: file },
        { type: "Link", mediaType: "text/html", href: page }
      ]
    })
    assert.strictEqual(shown?.url, page)
    assert.deepStrictEqual(
      shown?.attachments.map(({ description, previewUrl, type, url }) => ({ description, previewUrl, type, url })),
      [{ type: "video", url: file, previewUrl: "https://else.test/1.jpg", description: "Film" }]
    )
  })

  it("row 41: title, summary and address contain no mark-up", () => {
    const attacks = [
      "<script>alert(1)</script>",
      "<img src=x onerror=alert(1)>",
      "\"><svg onload=alert(1)>",
      "</strong></p><iframe src=javascript:alert(1)>",
      "<a href=\"javascript:alert(1)\">x</a>",
      "<p onclick=alert(1) style=\"x\">x"
    ]
    for (const attack of attacks) {
      const html = read({ type: "Article", name: attack, summary: attack, url: `${page}?${attack}` })?.html ?? ""
      assert.notMatch(html, /<(?:script|img|svg|iframe)|<[^>]*\s(?:on\w+|style)=|<[^>]*href="javascript/i, attack)
    }
    const long = read({ type: "Article", name: "x".repeat(titleCharactersMax + 1), summary: "" })?.html ?? ""
    assert.include(long, `<strong>${"x".repeat(titleCharactersMax)}</strong>`)
  })
})
