import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { sourceBytesMax, tooLong } from "../../../src/services/html/Text.ts"
import { handle, tokens } from "../../../src/services/html/TextTokens.ts"
import { best, fill } from "../../support/MachineSpeed.ts"

const found = (source: string) => tokens(source).filter(({ kind }) => kind !== "text").map(({ text }) => text)

describe("mentions", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["Hello @alice!", ["@alice"]],
    ["@alice@example.org, @bob.", ["@alice@example.org", "@bob"]],
    ["(@alice@sub.exa-mple.org)", ["@alice@sub.exa-mple.org"]],
    ["@zoë", []],
    ["@alice@ÄRZTE.de と@bob", ["@alice@ÄRZTE.de"]],
    ["こんにちは @alice@例え.テスト", ["@alice@例え.テスト"]],
    ["mail alice@example.org", []],
    ["x/@alice =@alice _@alice", []],
    ["@@alice @alice@@x", ["@alice", "@x"]],
    ["@alice://x", []],
    ["@first.last@example.org", ["@first.last@example.org"]],
    [`@${"a".repeat(256)}`, []]
  ])("%s", (source, expected) => assert.deepStrictEqual(found(source), expected))

  it("names an account by one key however it is written", () => {
    assert.strictEqual(handle("Alice", "ÄRZTE.de"), "alice@xn--rzte-koa.de")
    assert.strictEqual(handle("Alice", undefined), "alice")
  })
})

describe("hashtags", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["#cats and #Dogs.", ["#cats", "#Dogs"]],
    ["#3d #2026 #1st", ["#3d", "#1st"]],
    ["#１２３ #１a", ["#１a"]],
    ["＃ゲーム", ["＃ゲーム"]],
    ["#ｍｉｘ・test #·x #x·", ["#ｍｉｘ・test", "#x"]],
    ["#na\u200cme #café", ["#na\u200cme", "#café"]],
    ["#1_1 #_ #__ #1·2 #1·", ["#1_1", "#1·2"]],
    ["word#tag &#39; /#a )#b =#c", []],
    ["(#a) „#b“ #ก่อน", ["#a", "#b", "#ก่อน"]],
    ["#a#b #c://x", []],
    ["#don't #x-y", ["#don", "#x"]],
    [`#${"x".repeat(256)}`, []]
  ])("%s", (source, expected) => assert.deepStrictEqual(found(source), expected))
})

describe("URLs", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["see https://example.org/a_(b)?c=d#e.", ["https://example.org/a_(b)?c=d#e"]],
    ["HTTPS://Example.ORG/x, http://a.b", ["HTTPS://Example.ORG/x", "http://a.b"]],
    ["https://ä.de/ö?ü", ["https://ä.de/ö?ü"]],
    ["example.org http://localhost/x javascript:alert(1)", []],
    ["https://example.org/@alice#tag", ["https://example.org/@alice#tag"]],
    ["xhttp://a.b @http://a.b", []],
    ["(https://a.b/c)", ["https://a.b/c"]],
    [`https://a.b/${"x".repeat(1900)}`, [`https://a.b/${"x".repeat(1900)}`]]
  ])("%s", (source, expected) => assert.deepStrictEqual(found(source), expected))

  it.each<[string, ReadonlyArray<string>]>([
    ["see https://example.org/foo: that", ["https://example.org/foo"]],
    ["**https://example.org/foo**", ["https://example.org/foo"]],
    ["https://example.org/foo~ yes", ["https://example.org/foo"]],
    ["https://example.org/?a=b: c", ["https://example.org/?a=b"]],
    ["https://example.org/a(b) and https://example.org/x?y=1.", [
      "https://example.org/a(b)",
      "https://example.org/x?y=1"
    ]],
    ["https://example.org/?title=a_(b)", ["https://example.org/?title=a_(b)"]],
    ..."!;:,.*'\"&|@$%=~?<>[]".split("").map((mark): [string, ReadonlyArray<string>] => [
      `https://example.org/foo${mark.repeat(3)} x`,
      ["https://example.org/foo"]
    ]),
    ["https://example.org! https://example.org:", ["https://example.org", "https://example.org"]],
    ["https://example.org/ä/ https://example.org/-", ["https://example.org/ä/", "https://example.org/-"]]
  ])(
    "F85: punctuation at the end of a sentence is not part of an address: %s",
    (source, expected) => assert.deepStrictEqual(found(source), expected)
  )

  it.each<[string, ReadonlyArray<string>]>([
    ["see gemini://example.org/x please", ["gemini://example.org/x"]],
    ["gopher://example.org/x, ipfs://bafybeigdyr", ["gopher://example.org/x", "ipfs://bafybeigdyr"]],
    ["(xmpp:room@chat.example.org?join)", ["xmpp:room@chat.example.org?join"]],
    [
      "magnet:?dn=a&xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a.",
      ["magnet:?dn=a&xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a"]
    ],
    ["xmpp:nobody magnet:?x=1 gemini:// axmpp:a@b.c ftp://a.b", []]
  ])(
    "F85: addresses of other networks are links: %s",
    (source, expected) => assert.deepStrictEqual(found(source), expected)
  )
})

const fragments1: ReadonlyArray<string> = [
  "@",
  "#",
  "＃",
  "a",
  "ä",
  "1",
  ".",
  "-",
  "_",
  "·",
  "/",
  ":",
  "http://",
  "https://x.y",
  " ",
  "\n"
]
const fragments2: ReadonlyArray<string> = ["(", ")", "😀", "‌", "\ud83d", "'", "\"", "[", "]", "?", "&", "=", "é", "の"]
const Fragment = Schema.Literals([...fragments1, ...fragments2])

it.prop("the pieces of a text add up to the text", [Schema.Array(Fragment)], ([pieces]) => {
  const source = pieces.join("")
  assert.strictEqual(tokens(source).map(({ text }) => text).join(""), source)
})

describe("row 35", () => {
  const seeds1: ReadonlyArray<string> = [
    "@",
    "@a",
    "@a@",
    "@a...",
    "@a:",
    "@a@a-",
    "#",
    "#a",
    "#·",
    "#1_",
    "＃a ",
    "http://"
  ]
  const seeds2: ReadonlyArray<string> = [
    "http://a.b/",
    "http://a.b/((",
    "http://a.b/([{",
    "http://a.b/'\"",
    "http://a.b/...."
  ]
  const seeds3: ReadonlyArray<string> = ["http://a-a.a-", "https://a.b!", "a\u0301", "\n", "🏳️‍🌈"]
  const seeds = [...seeds1, ...seeds2, ...seeds3]
  it.each(seeds)("1 MB of %j is judged within 100 ms of CPU, and the longest valid text is read in it", (seed) => {
    const hostile = fill(seed, 1_000_000)
    assert.isTrue(tooLong(hostile))
    assert.isBelow(best(() => tooLong(hostile)), 100)
    assert.isBelow(best(() => tooLong(hostile.slice(0, sourceBytesMax))), 100)
  })

  it.each(seeds)("time grows linearly with %j", (seed) => {
    const [short, long] = [fill(seed, 50_000), fill(seed, 400_000)]
    const [one, eight] = [best(() => tokens(short)), best(() => tokens(long))]
    assert.isBelow(eight, Math.max(one * 32, 100))
  })
})
