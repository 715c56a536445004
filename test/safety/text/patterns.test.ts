import { assert, describe, it } from "@effect/vitest"
import { checkSync } from "recheck"
import { complaints, importsOf, matches, sourcesIn } from "../../support/source.ts"
import { composed, excepted, slowlyChecked } from "./knownPatterns.ts"

const sources = sourcesIn("src")
const patterns = [...new Set(sources.flatMap((file) => file.patterns))]

/** Returns a pattern's complexity according to the checker, which runs in this process without the network. */
const growthOf = (pattern: string): string => {
  process.env["RECHECK_SYNC_BACKEND"] = "pure"
  const [, source = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(pattern) ?? []
  const found = checkSync(source, flags, { timeout: 120_000 })
  return found.status === "unknown"
    ? `unknown (${found.error.kind})`
    : found.status === "safe"
    ? "linear"
    : found.complexity.summary
}

describe("F104: time grows with a text, not with its square", () => {
  it("of every pattern", () => {
    const asked = process.env["RECHECK"] === "all"
      ? patterns
      : patterns.filter((pattern) => !slowlyChecked.has(pattern))
    const growing = asked.filter((pattern) => !(pattern in excepted))
      .map((pattern) => [pattern, growthOf(pattern)] as const)
      .filter(([, growth]) => growth !== "linear")
    const where = (pattern: string) =>
      sources.filter((file) => file.patterns.includes(pattern)).map(({ path }) => path).join(", ")
    assert.deepStrictEqual(growing.map(([pattern, growth]) => `${where(pattern)}: ${pattern} ${growth}`), [])
  })

  it("and the lists of known patterns contain only existing ones", () => {
    const listed = [...slowlyChecked, ...Object.keys(excepted)]
    assert.deepStrictEqual(listed.filter((pattern) => !patterns.includes(pattern)), [])
    const counts = sources.map(({ code, path }) =>
      [path, matches(code, /\bnew RegExp\(|(?<![.\w])RegExp\(/g).length] as const
    )
    assert.deepStrictEqual(
      Object.fromEntries(counts.filter(([, count]) => count > 0)),
      Object.fromEntries(Object.entries(composed).map(([path, [count]]) => [path, count]))
    )
  })
})

describe("F104: the modules that hold the bounds", () => {
  const only = (allowed: ReadonlyArray<string>) => sources.filter(({ path }) => !allowed.includes(path))

  it("normalise texts", () => {
    const others = only(["src/services/text/Normalisation.ts"])
    assert.deepStrictEqual(complaints(others, ({ code }) => matches(code, /\.normalize\(/g)), [])
  })

  it("change no case by a locale, as locale rules are slow", () => {
    assert.deepStrictEqual(complaints(sources, ({ code }) => matches(code, /\.toLocale(?:Lower|Upper)Case\b/g)), [])
  })

  it("read and clean HTML", () => {
    const parsers =
      /^(?:htmlparser2|sanitize-html|parse5|cheerio|domhandler|linkedom|jsdom|fast-xml-parser|xml2js|sax)$/
    const others = only(["src/services/html/MarkupReader.ts", "src/services/html/Sanitise.ts"])
    assert.deepStrictEqual(complaints(others, (file) => importsOf(file).filter((name) => parsers.test(name))), [])
  })
})
