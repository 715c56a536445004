import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { variables } from "../../src/layers/environment/variables.ts"
import { places } from "../support/CommandTree.ts"
import { documents } from "../support/documents.ts"
import { commandsOf, guidePages, runners } from "../support/Guides.ts"
import { sourcesIn } from "../support/source.ts"

const english: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(`${import.meta.dirname}/../../src/layers/languages/en.json`, "utf8")
)
const texts = new Set(Object.values(english).flatMap((section) => Object.keys(section)))

/** Variables of other programs and files, a misspelling, and prefixes of names. */
const foreign =
  /^(?:ACTIVE_RECORD_.*|MASTODON_DATABASE_URL|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY)|S3_(?:ALIAS_HOST|OVERRIDE_PATH_STYLE|KEY_PREFIX)|VAPID_.*|WEB_DOMAIN|POSTGRES_PASSWORD|PUBLC_URL|S3_|OIDC_)$/

/** Returns the names of variables in code: words with an underscore, and words that are assigned a value. */
const variablesIn = (code: string): ReadonlyArray<string> =>
  Array.from(
    code.matchAll(/(?<![\w$.])([A-Z][A-Z0-9]*(?:_[A-Z0-9]*)+)(?![\w.])|(?:^|\s)([A-Z][A-Z0-9_]{2,})(?==)/gm),
    ([, joined, assigned]) => joined ?? assigned ?? ""
  )

/** Pages about operation: their variables are settings of this server. */
const operated = [...documents].filter(([path]) =>
  /^docs\/(?:guide\/.*|operating|cluster|mastodon|settings)\.md$|^README\.md$/.test(path)
)

describe("pages of the guide", () => {
  it("name in bold only existing pages, menus and buttons of the server", () => {
    const wrong = guidePages.flatMap(({ name, names }) =>
      names.filter((text) => !texts.has(text)).map((text) => `${name}: ${text}`)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("explain each alert for Prometheus", () => {
    const alerts = Array.from(
      readFileSync(`${import.meta.dirname}/../../ops/monitoring/alerts.yaml`, "utf8").matchAll(/- alert: (\w+)/g),
      ([, name = ""]) => name
    )
    const explained = guidePages.flatMap(({ codes, name }) =>
      name === "monitoring.md" ? codes.filter((code) => /^Murmuration[A-Z]\w+$/.test(code)) : []
    )
    assert.deepStrictEqual(explained.toSorted(), alerts.toSorted())
  })

  it("quote messages of the server exactly", () => {
    const source = sourcesIn("src").map(({ text }) => text.replaceAll(/" \+\s*"/g, "")).join("\n")
    const quoted = readFileSync(`${import.meta.dirname}/../../docs/guide/troubleshooting.md`, "utf8").split("\n\n")
      .filter((part) => part.startsWith("| It says |"))
      .flatMap((table) => table.split("\n").slice(2).map((row) => row.split("|")[1] ?? ""))
      .flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = ""]) => text))
    assert.isAbove(quoted.length, 15)
    assert.deepStrictEqual(quoted.filter((text) => !source.includes(text)), [])
  })

  it("have a test that runs their commands", () => {
    const withCommands = guidePages.map(({ name }) => name).filter((name) => commandsOf(name).length > 0)
    assert.deepStrictEqual(Object.keys(runners), withCommands.toSorted())
    for (const test of new Set(Object.values(runners))) assert.isTrue(existsSync(`${import.meta.dirname}/../${test}`))
  })

  it("have a reason for each block of commands that no test runs", () => {
    const skipped = guidePages.flatMap(({ name }) => commandsOf(name).flatMap(({ skipped }) => skipped ?? []))
    assert.isTrue(skipped.every((reason) => reason.length > 10))
    const unread = guidePages.flatMap(({ blocks, name }) =>
      blocks.filter(({ comment }) => comment !== undefined && !comment.startsWith("not run: "))
        .map(({ comment }) => `${name}: ${comment}`)
    )
    assert.deepStrictEqual(unread, [])
  })
})

describe("documents", () => {
  it("name only variables that are settings", () => {
    const wrong = operated.flatMap(([path, { blocks, codes }]) =>
      [...codes, ...blocks.map(({ text }) => text)].flatMap(variablesIn)
        .filter((name) => !(name in variables) && !foreign.test(name)).map((name) => `${path}: ${name}`)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("name commands that exist, also without `npm run cli --` and arguments", () => {
    const known = places.map(({ path }) => path.slice(1).join(" "))
    const groups = new Set(places.filter(({ isLeaf, path }) => !isLeaf && path.length === 2).map(({ path }) => path[1]))
    const wrong = operated.flatMap(([path, { codes }]) =>
      codes.map((text) => text.replace(/^npm run cli -- /, ""))
        .filter((text) => groups.has(text.split(" ")[0] ?? "") && text.includes(" "))
        .filter((text) => !known.some((name) => name.includes(" ") && `${text} `.startsWith(`${name} `)))
        .map((text) => `${path}: ${text}`)
    )
    assert.deepStrictEqual(wrong, [])
  })
})
