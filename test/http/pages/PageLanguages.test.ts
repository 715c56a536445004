import { assert, describe, it } from "@effect/vitest"
import { IntlMessageFormat } from "intl-messageformat"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { html } from "../../../src/http/html/Html.ts"
import { linkTo } from "../../../src/http/html/HtmlPage.ts"
import { group } from "../../../src/http/oauth/ScopeTexts.ts"
import { folder } from "../../../src/layers/CatalogFiles.ts"
import { type CatalogFile, catalogOf } from "../../../src/services/languages/Catalogs.ts"
import * as Scopes from "../../../src/services/oauth/Scopes.ts"
import { type Source, sourcesIn } from "../../support/source.ts"
import { sharedWithEnglish } from "./Untranslated.ts"

const at = fileURLToPath(folder)
const files = new Map(
  readdirSync(at).map((name): [string, CatalogFile] => [
    name.replace(".json", ""),
    JSON.parse(readFileSync(at + name, "utf8"))
  ])
)
const english = files.get("en")!

/** Returns true for sources of pages, e-mails and pushes for users. */
const isForPeople = ({ path }: Source) =>
  /^src\/(?:http\/(?:pages|html|oauth|web)\/|services\/(?:(?:emails|moderation)\/\w+Texts|notifications\/NotificationTitles))/
    .test(
      path
    ) &&
  !/Stylesheet|PublicStyle|ApiDocs|Metadata|Refusals|http\/oauth\/OAuth|Claims|ScopeTexts|ProofScript|\.client\.ts$|http\/web\/\w+\/(?:\w+Style|DesignTokens|Icons|HashedFile)/
    .test(path)

/** Returns true for sources of staff pages. */
const isForStaff = ({ path }: Source) => /^src\/http\/[^/]+\/pages\//.test(path) && !/StaffStyle/.test(path)

/** Strings that users do not read: headers, policies, developer messages. */
const technical =
  /^(?:default-src|style-src|base-uri|frame-ancestors|form-action|private,|public,|text\/|Accept,|(?:account|trends) (?:approve|reject)|A page has no|You have already imposed|(?:Starts|Ends|Scheduled|Max|Expires|Collection) \w+$|.* (?:is invalid|is not included in the list|must be after its beginning)$|Validation failed:|used full$|[A-Z][a-z]+ (?:ids )?(?:can't be blank|is invalid|is not included in the list)$)/

/** Finds texts in a page or e-mail that are not translated to the reader's language. */
const unsaid = ({ literals }: Source): ReadonlyArray<string> =>
  literals.flatMap((literal) => {
    if (!literal.includes("<")) {
      const known = literal in english.messages || literal in english.texts
      return /[A-Za-z]{2,}[,:.!]? [A-Za-z]{2,}/.test(literal) && !known && !technical.test(literal) ? [literal] : []
    }
    if (literal in english.messages) return []
    const attributes = [...literal.matchAll(/\b(?:aria-label|title|alt|placeholder)="([^"]*[A-Za-z][^"]*)"/g)]
    const bare = literal.replace(/<!doctype html>/, "").replace(/<[^>]*>?/g, " ").replace(/&\w+;|\bUTC\b/g, "")
    return [...attributes.map(([, text = ""]) => text), ...(/[A-Za-z]{2,}/.test(bare) ? [bare.trim()] : [])]
  })

const saidIn = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  sources.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:say|pieces)\(\s*"((?:[^"\\]|\\.)*)"/g)].map(([, message = ""]) => message)
  )

/** Returns true for the table with the labels of settings; its other texts are for operators. */
const isSettingTable = ({ path }: Source) => path === "src/services/instance/SettingTable.ts"

/** Texts in the sources, and scope texts, which come from a table. */
const shownTexts = new Set([
  ...saidIn(sourcesIn("src").filter((file) => isForPeople(file) || isForStaff(file) || isSettingTable(file))),
  ...[Scopes.all].concat(Scopes.all.map((scope) => [scope])).flatMap((scopes) => group(scopes))
    .flatMap(({ access, texts, title }) => [access ?? title, title].concat(texts))
])

/** Returns the values and tags of a message: `{count, plural}`, `<link>`. */
const valuesOf = (message: string, tag: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (elements: ReadonlyArray<object>): void => {
    for (const element of elements) {
      const { children, options, type, value } = element as {
        readonly type: number
        readonly value?: string
        readonly options?: Record<string, { readonly value: ReadonlyArray<object> }>
        readonly children?: ReadonlyArray<object>
      }
      if (type > 0 && value !== undefined) found.add(`${type}:${value}`)
      for (const option of Object.values(options ?? {})) visit(option.value)
      visit(children ?? [])
    }
  }
  visit(new IntlMessageFormat(message, tag).getAst())
  return [...found].toSorted()
}

describe("texts of pages and e-mails", () => {
  it("F35: every text on a page or in an e-mail is in the reader's language", () => {
    const sources = sourcesIn("src").filter((file) => isForPeople(file) || isForStaff(file))
    assert.isAbove(sources.length, 20)
    assert.deepStrictEqual(sources.flatMap((file) => unsaid(file).map((text) => `${file.path}: ${text}`)), [])
    assert.isAbove(shownTexts.size, 200)
    for (const [tag, { messages }] of files) {
      assert.deepStrictEqual([...shownTexts].filter((message) => !(message in messages)), [], tag)
      assert.deepStrictEqual(
        Object.keys(messages).filter((message) => !shownTexts.has(message)),
        [],
        `${tag}: nobody says`
      )
    }
    for (const [message, text] of Object.entries(english.messages)) assert.strictEqual(text, message)
    const refusals = sourcesIn("src").filter(({ path }) => /SignIns|AuthorizationRequests/.test(path))
      .flatMap(({ literals }) => literals.filter((literal) => /^[A-Z].* .*\.$/.test(literal)))
    assert.isAtLeast(refusals.length, 7)
    assert.deepStrictEqual(refusals.filter((text) => !(text in english.texts)), [])
  })

  it("F35: each translation is readable, has the same values, and every plural of its language", () => {
    for (const [tag, { messages }] of files) {
      const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories
      for (const [message, text] of Object.entries(messages)) {
        assert.deepStrictEqual(valuesOf(text, tag), valuesOf(message, "en"), `${tag}: ${message}`)
        assert.notStrictEqual(text.trim(), "", `${tag}: ${message}`)
        // "many" of the Romance languages starts at a million, and has the text of "other".
        for (const [plural] of text.matchAll(/, plural,(?:[^{}]|\{[^{}]*\})*/g)) {
          const there = [...plural.matchAll(/(\w+) \{/g)].map(([, category = ""]) => category)
          assert.includeMembers([...categories], there, `${tag}: ${message}`)
          assert.include(there, "other", `${tag}: ${message}`)
        }
      }
    }
  })

  it("F35: figures, plurals and dates follow the language", () => {
    const words = (tag: string) => catalogOf(tag, files.get(tag)!)
    const replies = (tag: string, count: number) =>
      words(tag).say("{count, plural, one {# reply} other {# replies}}", { count })
    assert.deepStrictEqual([0, 1, 1_234].map((count) => replies("en", count)), [
      "0 replies",
      "1 reply",
      "1,234 replies"
    ])
    assert.deepStrictEqual([0, 1, 1_234].map((count) => replies("de", count)), [
      "0 Antworten",
      "1 Antwort",
      "1.234 Antworten"
    ])
    assert.deepStrictEqual([0, 1, 2].map((count) => replies("fr", count)), ["0 réponse", "1 réponse", "2 réponses"])
    assert.deepStrictEqual([1, 2].map((count) => replies("ja", count)), ["返信1件", "返信2件"])
    assert.deepStrictEqual([0, 1, 2, 3, 11, 100].map((count) => replies("ar", count)), [
      "لا ردود",
      "رد واحد",
      "ردّان",
      "3 ردود",
      "11 ردًا",
      "100 رد"
    ])
    const date = new Date(Date.UTC(2026, 10, 22, 15, 4))
    assert.deepStrictEqual(["en", "de", "fr", "es", "pt", "ja", "zh-CN"].map((tag) => words(tag).day(date)), [
      "November 22, 2026",
      "22. November 2026",
      "22 novembre 2026",
      "22 de noviembre de 2026",
      "22 de novembro de 2026",
      "2026年11月22日",
      "2026年11月22日"
    ])
  })

  it("F35: a translation is escaped as text; an unreadable one falls back to English", () => {
    const { pieces, say } = catalogOf("de", {
      attributes: {},
      texts: {},
      messages: {
        "Sign in": `"><b onclick='x'>Hier & da`,
        "Sign out": "<script>alert(1)</script>",
        "Deny": "{nothing",
        "Allow": "{other} erlauben",
        "Posts tagged {tag}": `1 < 2 & "{tag}"`,
        "Welcome! You can go back to your app, or <link>sign in</link> here.": `&lt;img src=x&gt; <link>a" b</link>`
      }
    })
    assert.strictEqual(String(html`<a title="${say("Sign in")}">${say("Sign in")}</a>`).match(/</g)?.length, 2)
    assert.strictEqual(String(html`${say("Sign out")}`), "Sign out")
    assert.deepStrictEqual([say("Deny"), say("Allow")], ["Deny", "Allow"])
    const tag = html`<bdi>#${"a<b"}</bdi>`
    assert.strictEqual(
      String(html`${pieces("Posts tagged {tag}", { tag })}`),
      `1 &lt; 2 &amp; &quot;<bdi>#a&lt;b</bdi>&quot;`
    )
    // Names for people are also text.
    assert.strictEqual(
      String(html`${pieces("Posts tagged {tag}", { tag: "<i>" })}`),
      `1 &lt; 2 &amp; &quot;&lt;i&gt;&quot;`
    )
    assert.strictEqual(
      String(
        html`${
          pieces("Welcome! You can go back to your app, or <link>sign in</link> here.", { link: linkTo("/a?b&c") })
        }`
      ),
      `&amp;lt;img src=x&amp;gt; <a href="/a?b&amp;c">a&quot; b</a>`
    )
  })

  it("a translation that equals its English text is a word that both languages share", () => {
    for (const [tag, { attributes, messages, texts }] of files) {
      if (tag === "en") continue
      const untranslated = [...Object.entries(attributes), ...Object.entries(texts), ...Object.entries(messages)]
        .filter(([key, value]) => key === value && /\p{L}{4}/u.test(key.replace(/\{\w+\}/g, "")))
        .map(([key]) => key)
      assert.deepStrictEqual(untranslated.filter((key) => sharedWithEnglish[tag]?.includes(key) !== true), [], tag)
    }
  })
})
