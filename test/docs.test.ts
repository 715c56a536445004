import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { texts } from "../src/http/wire/Status.ts"
import { noteContext } from "../src/services/federation/documents/NoteDocument.ts"
import { softwareVersion } from "../src/services/instance/Software.ts"
import { documents as parsedDocuments } from "./support/documents.ts"
import { sourcesIn } from "./support/source.ts"

const root = `${import.meta.dirname}/..`
const own = "test/docs.test.ts"
const files = ["src", "test", "migrations"].flatMap(sourcesIn).filter(({ path }) => path !== own)
const documents = new Map(
  [
    "README.md",
    "CONTRIBUTING.md",
    ...readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" }).map((name) =>
      `docs/${name.replaceAll("\\", "/")}`
    )
  ]
    .filter((path) => path.endsWith(".md"))
    .map((path) => [path, readFileSync(`${root}/${path}`, "utf8")] as const)
)

/** Numbers of a range, both ends included. */
const range = (from: string, to: string) => {
  const first = Number(from)
  return Array.from({ length: Number(to) - first + 1 }, (_, at) => first + at)
}

/** The numbers that a text cites, as the documents write them: of requirements, attacks, invariants, faults and differences. */
const citedIn = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const requirement = (number: number | string) => found.add(`S-${String(number).padStart(3, "0")}`)
  for (const [, from = "", to = from] of text.matchAll(/\bS-(\d{3})(?: to S-(\d{3}))?\b/g)) {
    range(from, to).forEach(requirement)
  }
  for (const [, from = "", to = from] of text.matchAll(/\bI([1-9]\d?)(?: to I([1-9]\d?))?\b/g)) {
    for (const number of range(from, to)) found.add(`I${number}`)
  }
  for (const [number] of text.matchAll(/\b(?:F[1-9]\d{0,2}|D-\d{3})\b/g)) found.add(number)
  for (const [, list = ""] of text.matchAll(/\brows? (\d+(?:(?:,? to |,? and |, )\d+)*)\b/gi)) {
    for (const [, from = "", to = from] of list.matchAll(/(\d+)(?:,? to (\d+))?/g)) {
      for (const number of range(from, to)) found.add(`row ${number}`)
    }
  }
  return found
}

const carried = new Map(files.map(({ path, text }) => [path, citedIn(text)]))

/** A line of a document's table that begins with a number; `tests` is its last cell. */
interface Line {
  readonly document: string
  readonly number: string
  readonly tests: string
}
const lines: ReadonlyArray<Line> = [...documents].flatMap(([document, text]) =>
  text.split("\n").flatMap((line) => {
    const [, number = "", tests = ""] = /^\| (S-\d{3}|I\d+|F\d+|D-\d{3}|row \d+) \|.* \| ([^|]*) \|$/.exec(line) ?? []
    return number === "" ? [] : [{ document, number, tests }]
  })
)
const known = new Set(lines.map(({ number }) => number))

/** Placeholders for missing tests: of rules without their own test, and of unbuilt features. */
const isUntested = (tests: string) => tests === "not yet" || tests === "not built"

const namesIn = (tests: string) => Array.from(tests.matchAll(/`([^`]+)`/g), ([, name = ""]) => `test/${name}`)

describe("numbers", () => {
  it("that a file cites are lines of docs", () => {
    assert.deepStrictEqual(
      [...carried].flatMap(([path, numbers]) =>
        [...numbers].filter((number) => !known.has(number)).map((number) => `${path}: ${number}`)
      ),
      []
    )
  })

  it("stand in one line of a document", () => {
    const found = lines.map(({ document, number }) => `${document}: ${number}`)
      // Scenarios and faults share their numbers.
      .filter((one) => !/F\d+$/.test(one))
    assert.deepStrictEqual(found.filter((one, at) => found.indexOf(one) !== at), [])
  })

  it("are carried by the tests that docs name, and by none where docs say so", () => {
    const wrong = lines.flatMap(({ document, number, tests }) => {
      if (!isUntested(tests)) {
        return namesIn(tests).filter((path) => carried.get(path)?.has(number) !== true)
          .map((path) => `${document}: ${number} is not in ${path}`)
      }
      if (number.startsWith("F")) return []
      return [...carried].filter(([path, numbers]) => path.endsWith(".test.ts") && numbers.has(number))
        .map(([path]) => `${document}: ${number} is in ${path}`)
    })
    assert.deepStrictEqual(wrong, [])
    assert.deepStrictEqual(lines.filter(({ tests }) => !isUntested(tests) && namesIn(tests).length === 0), [])
  })

  it("of differences to Mastodon are counted without a gap, each with its tests (F97)", () => {
    const numbers = lines.filter(({ number }) => number.startsWith("D-"))
    assert.deepStrictEqual(
      numbers.map(({ document, number }) => `${document} ${number}`),
      numbers.map((_, at) => `docs/differences.md D-${String(at + 1).padStart(3, "0")}`)
    )
    assert.isAbove(numbers.length, 0)
    assert.isFalse(numbers.some(({ tests }) => isUntested(tests)))
  })

  it("of fault scenarios are told from those of faults", () => {
    const [, scenarios = ""] = documents.get("docs/invariants.md")?.split("## Fault scenarios") ?? []
    const cited = files.flatMap(({ text }) =>
      Array.from(text.matchAll(/\bscenario (F\d+)/g), ([, number = ""]) => number)
    )
    assert.deepStrictEqual(cited.filter((number) => !scenarios.includes(`| ${number} |`)), [])
  })
})

describe("the version", () => {
  it("is the same in the program, in package.json and as the newest release of the changelog", () => {
    const { version }: { readonly version: unknown } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))
    const [, released] = /^## \[(\d[^\]]*)\]/m.exec(readFileSync(`${root}/CHANGELOG.md`, "utf8")) ?? []
    assert.deepStrictEqual([version, released], [softwareVersion, softwareVersion])
  })
})

describe("documents", () => {
  /** The part of a document below a heading that begins with a number. */
  const section = (text: string, number: string) => text.split(/^## /m).find((part) => part.startsWith(`${number} `))

  it("that a file cites exist, with the cited section and words", () => {
    const citation =
      /(?<![\w/.-])([a-z-]+)\.md(?: sections? (\d+)(?: and (\d+))?)?(?:, (?:"([^"]+)"|'([^']+)'|`([^`]+)`|([A-Z]\w+)))?/g
    const wrong = files.flatMap(({ path, text }) =>
      [...text.replaceAll(/\s*\n\s*(?:\*|\/\/) /g, " ").matchAll(citation)].flatMap(([whole, name, ...found]) => {
        const [first, second, ...words] = found
        const document = documents.get(`docs/wire/${name}.md`) ?? documents.get(`docs/${name}.md`) ??
          documents.get(`docs/guide/${name}.md`)
        if (document === undefined) return [`${path}: ${whole}`]
        const sections = [first, second].filter((number) => number !== undefined)
        const parts = sections.map((number) => section(document, number))
        const word = words.find((one) => one !== undefined)
        const shown = (sections.length === 0 ? [document] : parts).some((part) =>
          word === undefined ? part !== undefined : part?.includes(word)
        )
        return shown && !parts.includes(undefined) ? [] : [`${path}: ${whole}`]
      })
    )
    assert.deepStrictEqual(wrong, [])
  })

  /** Paths of files in full, and names of files by their last part, in a text. */
  const pathsIn = (text: string) =>
    Array.from(text.matchAll(/`((?:src|test|migrations|docs)\/[^`\s*]+)`/g), ([, path = ""]) => path)
  const namesOf = (text: string) => Array.from(text.matchAll(/`([A-Z]\w+\.ts)`/g), ([, name = ""]) => name)

  it("name files that are there", () => {
    const names = new Set(files.map(({ path }) => path.slice(path.lastIndexOf("/") + 1)))
    const wrong = [...documents].flatMap(([document, text]) => {
      const folder = `${root}/${document.slice(0, document.lastIndexOf("/") + 1)}`
      const links = Array.from(text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g), ([, link = ""]) => link)
      return [
        ...pathsIn(text).filter((path) => !existsSync(`${root}/${path}`)),
        ...namesOf(text).filter((name) => !names.has(name)),
        ...links.filter((link) => !existsSync(`${folder}${link}`))
      ].map((what) => `${document}: ${what}`)
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("link to headings that are there", () => {
    const wrong = [...parsedDocuments].flatMap(([document, { anchors, links }]) =>
      links.filter((link) => link.includes("#") && !link.includes(":")).filter((link) => {
        const [path = "", anchor = ""] = link.split("#")
        const target = path === "" ? { anchors } : parsedDocuments.get(posix.join(posix.dirname(document), path))
        return target?.anchors.has(anchor) !== true
      }).map((link) => `${document}: ${link}`)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("name a file by its last part only next to another file of its folder, or if its full path is given elsewhere", () => {
    const paths = files.map(({ path }) => path)
    const wrong = [...documents].flatMap(([document, text]) =>
      text.split(/\n(?=\d+\. |\n|\|)/).flatMap((part) => {
        const folders = new Set(pathsIn(part).map((path) => path.slice(0, path.lastIndexOf("/"))))
        const all = pathsIn(text)
        return namesOf(part).filter((name) =>
          !all.some((path) => path.endsWith(`/${name}`)) &&
          !paths.some((path) => path.endsWith(`/${name}`) && folders.has(path.slice(0, path.lastIndexOf("/"))))
        ).map((name) => `${document}: ${name}`)
      })
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("walk through forty files at most", () => {
    const [, walks = ""] = documents.get("CONTRIBUTING.md")?.split(/^## .* walks .*$/m) ?? []
    const lengths = walks.split(/^## /m)[0]!.split(/^### /m).slice(1).map((walk) => {
      const steps = walk.split("\n\n").filter((part) => part.startsWith("1. ")).join("")
      return new Set([...pathsIn(steps).map((path) => path.slice(path.lastIndexOf("/") + 1)), ...namesOf(steps)]).size
    })
    assert.strictEqual(lengths.length, 4)
    assert.isTrue(lengths.every((files) => files > 10 && files <= 40), String(lengths))
  })

  it("name each text of a post, and each word that notes have beside ActivityStreams'", () => {
    const status = documents.get("docs/wire/entities.md")?.split("\n## ").find((part) => part.startsWith("Status\n"))
    const federation = documents.get("docs/wire/federation.md") ?? ""
    const missing = (text: string | undefined, words: ReadonlyArray<string>) =>
      words.filter((word) => !new RegExp(`\\b${word}\\b`).test(text ?? ""))
    assert.deepStrictEqual(missing(status, Object.keys(texts)), [])
    const [, terms = {}] = noteContext
    assert.deepStrictEqual(missing(federation, Object.keys(terms)), [])
  })

  it("describe the server's behaviour, and name no place on a machine", () => {
    const wrong = [...documents].flatMap(([document, text]) =>
      Array.from(
        text.matchAll(/Mastodon requires|(?<![\w.`:/])\/(?:work|home|tmp|root|Users)\/\S*/g),
        ([what]) => `${document}: ${what}`
      )
    )
    assert.deepStrictEqual(wrong, [])
  })
})
