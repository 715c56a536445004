import { assert, describe, it } from "@effect/vitest"
import { cachedTables } from "../src/services/database/CachedTables.ts"
import { account, federation, forbiddenImports, http, leaves, wholeServer } from "./support/areas.ts"
import { bareStatements, decodersInside, statusWrites } from "./support/bareRows.ts"
import { kindsOf, silentWrites, staleReasons } from "./support/cachedWrites.ts"
import { cyclesOf } from "./support/cycles.ts"
import { unusedExports } from "./support/exports.ts"
import { unknownBenchRows, unlistedFastPaths } from "./support/fastPaths.ts"
import { bannedNames, glossary } from "./support/glossary.ts"
import { ownHelpers } from "./support/ownHelpers.ts"
import { complaints, importsOf, matches, type Source, sourcesIn } from "./support/source.ts"
import { staleSpans } from "./support/spanNames.ts"

const sources = sourcesIn("src")
const migrations = sourcesIn("migrations")
const tests = sourcesIn("test")

const lineCount = ({ text }: Source) => text.split("\n").length - 1

/** The layer of a path: `services`, `actors`, `http`, `layers`, or the entry points as `entry`. */
const layerOf = (path: string) => /^src\/(services|actors|http|layers)\//.exec(path)?.[1] ?? "entry"

/** Public parts of actors: their messages, and the clients that send them. */
const front = /^src\/actors\/[^/]+\/(?:core\/)?(?:Account|Domain|Media)(?:Protocol|Actors)\.ts$/

const mayImport: Record<string, (path: string) => boolean> = {
  services: () => false,
  actors: (path) => layerOf(path) === "services",
  http: (path) => layerOf(path) === "services" || front.test(path),
  layers: (path) => layerOf(path) !== "entry",
  entry: () => true
}

describe("layers", () => {
  it("import each other in one direction: layers -> http -> public parts of actors -> services, layers -> actors -> services", () => {
    assert.deepStrictEqual(
      complaints(sources, (file) => {
        const layer = layerOf(file.path)
        return importsOf(file).filter((path) =>
          path.startsWith("src/") && layerOf(path) !== layer && !mayImport[layer]!(path)
        )
      }),
      []
    )
  })

  it("tests are imported by tests only", () => {
    assert.deepStrictEqual(
      complaints(sources, (file) => importsOf(file).filter((path) => path.startsWith("test/"))),
      []
    )
  })

  it("an actor's Entity is imported by layers only", () => {
    assert.deepStrictEqual(
      complaints(
        sources,
        (file) =>
          layerOf(file.path) === "layers"
            ? []
            : importsOf(file).filter((path) => /\/actors\/[^/]+\/\w+Entity\.ts$/.test(path))
      ),
      []
    )
  })

  it("files form no import cycle, types included", () => {
    const needs = sources.flatMap((file) =>
      importsOf(file).filter((to) => to.startsWith("src/"))
        .map((to) => ({ from: file.path, to, by: `${file.path} -> ${to}` }))
    )
    assert.deepStrictEqual(cyclesOf(needs), [])
  })

  it("services lie in folders", () => {
    assert.deepStrictEqual(sources.filter(({ path }) => /^src\/services\/[^/]+$/.test(path)), [])
  })

  it("folders of services, actors and HTTP form no import cycle, types included", () => {
    const areaOf = (path: string) => /^src\/((?:services|actors|http)\/[^/]+)\//.exec(path)?.[1]
    const needs = sources.flatMap((file) => {
      const from = areaOf(file.path)
      return importsOf(file).flatMap((path) => {
        const to = areaOf(path)
        return from === undefined || to === undefined || from === to
          ? []
          : [{ from, to, by: `${file.path} -> ${path}` }]
      })
    })
    assert.deepStrictEqual(cyclesOf(needs), [])
  })
})

describe("leaf capabilities", () => {
  it("are imported by no other service", () => {
    const folderOf = (path: string) => /^src\/services\/([^/]+)\//.exec(path)?.[1] ?? ""
    const services = sources.filter(({ path }) => folderOf(path) !== "")
    assert.deepStrictEqual(leaves.filter((leaf) => !services.some(({ path }) => folderOf(path) === leaf)), [])
    assert.deepStrictEqual(
      complaints(
        services.filter(({ path }) => folderOf(path) !== wholeServer),
        (file) =>
          importsOf(file).filter((path) => leaves.includes(folderOf(path)) && folderOf(path) !== folderOf(file.path))
      ),
      []
    )
  })
})

describe("areas import what test/support/areas.ts allows", () => {
  it("src/http", () => assert.deepStrictEqual(forbiddenImports(sources, "src/http", http), []))
  it("src/actors/account", () => assert.deepStrictEqual(forbiddenImports(sources, "src/actors/account", account), []))
  it("src/services/federation", () =>
    assert.deepStrictEqual(forbiddenImports(sources, "src/services/federation", federation), []))
})

describe("caches are told of every write of a cached table", () => {
  const fileWith = (text: string) => ({ path: "src/a.ts", text, code: text, literals: [], patterns: [] })

  it("by a statement within `tracked` of the table's kind", () => {
    assert.deepStrictEqual(sources.flatMap(silentWrites), [])
    assert.deepStrictEqual(staleReasons(sources), [])
  })

  it("each cached table is checked, and a kind of another table does not count", () => {
    for (const [kind, tables] of cachedTables) {
      for (const write of tables.flatMap((table) => [`UPDATE ${table} SET a = 1`, `DELETE FROM ${table}`])) {
        assert.deepStrictEqual(kindsOf(write), [kind])
        assert.strictEqual(silentWrites(fileWith(`yield* sql\`${write}\``)).length, 1)
        assert.strictEqual(silentWrites(fileWith(`yield* tracked("no", [])(sql\`${write}\`)`)).length, 1)
        assert.deepStrictEqual(silentWrites(fileWith(`yield* tracked("${kind}", [id])(sql\`${write}\`)`)), [])
      }
    }
  })

  it("`Changed` is published by RowChanges.ts only", () => {
    assert.deepStrictEqual(
      sources.filter(({ text }) => /_tag: "Changed"/.test(text)).map(({ path }) => path),
      ["src/services/events/RowChanges.ts"]
    )
  })
})

describe("fast paths", () => {
  it("are marked in the code exactly as docs/fast-paths.md lists them, with rows of the benchmark", () => {
    assert.deepStrictEqual(unlistedFastPaths(sources), [])
    assert.deepStrictEqual(unknownBenchRows(tests), [])
  })
})

describe("names of spans", () => {
  it("say the class and the member, the endpoint or the command at which they stand", () => {
    assert.deepStrictEqual(sources.flatMap(staleSpans), [])
  })

  it("are stale for another class, a member that is gone and another group", () => {
    const staleIn = (text: string) =>
      staleSpans({ path: "src/services/Things.ts", text, code: text, literals: [], patterns: [] })
    assert.deepStrictEqual(staleIn("const find = traced(\"Things.find\")(function*() {})"), [])
    assert.strictEqual(staleIn("const find = traced(\"Others.find\")(function*() {})").length, 1)
    assert.strictEqual(staleIn("const find = traced(\"Things.found\")(function*() {})").length, 1)
    assert.strictEqual(
      staleIn("class A extends HttpApiGroup.make(\"admin/rules\") {}; { list: traced(\"admin.roles.list\") }").length,
      1
    )
  })
})

describe("the outside world belongs to src/layers", () => {
  const packages =
    /^(?:node:(?:fs|net|tls|http|https|http2|dgram|dns|child_process|cluster|worker_threads)(?:\/.*)?|sharp|nodemailer|ioredis|ws)$/

  it("files, sockets, processes, mail and Redis", () => {
    const outside = sources.filter(({ path }) => layerOf(path) !== "layers")
    assert.deepStrictEqual(complaints(outside, (file) => importsOf(file).filter((name) => packages.test(name))), [])
  })

  it("the environment's variables and fetch", () => {
    const outside = sources.filter(({ path }) => layerOf(path) !== "layers")
    assert.deepStrictEqual(complaints(outside, ({ code }) => matches(code, /process\.env|(?<![.\w])fetch\(/g)), [])
    assert.deepStrictEqual(complaints(sources, ({ code }) => matches(code, /process\.env/g)), [])
  })
})

describe("time and randomness are services", () => {
  it("clock, randomness, timers and console are not used directly", () => {
    const direct = /Date\.now\b|new Date\(\)|Math\.random\b|(?<![.\w])(?:setTimeout|setInterval)\(|(?<![.\w])console\./g
    assert.deepStrictEqual(complaints(sources, ({ code }) => matches(code, direct)), [])
    // Only code at the sockets may depend on turns of the event loop: a simulation replaces it.
    const outside = sources.filter(({ path }) => layerOf(path) !== "layers")
    assert.deepStrictEqual(complaints(outside, ({ code }) => matches(code, /(?<![.\w])setImmediate\(/g)), [])
  })

  it("SQL does not take them from Postgres", () => {
    const inSql = /\bnow\(\)|\bCURRENT_TIMESTAMP\b|\bclock_timestamp\(\)|\brandom\(\)|\bgen_random_uuid\(\)/gi
    // Measures the statements of Postgres, whose clock may differ from ours (F431).
    const others = [...sources, ...migrations].filter(({ path }) => path !== "src/layers/telemetry/SlowStatements.ts")
    const found = complaints(others, ({ literals }) => literals.flatMap((literal) => matches(literal, inSql)))
    assert.deepStrictEqual(found, [])
  })
})

describe("exports of the program", () => {
  /** Names of formats and relations, which are never fetched. */
  const names =
    /^https?:\/\/(?:www\.w3\.org|swicg\.github\.io|w3id\.org|purl\.archive\.org|purl\.org|search\.yahoo\.com|jsonfeed\.org|www\.sitemaps\.org|schema\.org|joinmastodon\.org|misskey-hub\.net|fedibird\.com|ostatus\.org|webfinger\.net|nodeinfo\.diaspora\.software|gotosocial\.org|litepub\.social|docs\.oasis-open\.org|datatracker\.ietf\.org|s3\.amazonaws\.com)\b/

  it("F3: addresses in it belong to no real person, except in format examples", () => {
    const addresses = /https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'`<>]*/gi
    assert.deepStrictEqual(
      complaints(
        sources,
        ({ literals }) =>
          literals.flatMap((literal) => matches(literal, addresses)).filter((address) =>
            !names.test(address) && !/\bexample\.(?:org|com)\b/.test(address)
          )
      ),
      []
    )
  })
})

describe("rows, by the list of test/support/bareRows.ts", () => {
  it("are decoded", () => assert.deepStrictEqual(bareStatements(sources), []))
  it("by decoders that are made once", () => assert.deepStrictEqual(decodersInside(sources), []))
  it("of statuses are written in one place", () => assert.deepStrictEqual(statusWrites(sources), []))
})

describe("transactions", () => {
  /** Work with effects in memory that are reverted before a retry; and a search, which only reads. */
  const own =
    /^src\/(?:services\/(?:database\/Transactions|intents\/Commands|search\/Bounded)|actors\/account\/core\/SharedTransaction)\.ts$/

  it("F20: are begun by services/database/Transactions.ts, which does them again after a deadlock", () => {
    const others = sources.filter(({ path }) => !own.test(path))
    assert.deepStrictEqual(complaints(others, ({ code }) => matches(code, /\bwithTransaction\b/g)), [])
  })
})

describe("snake_case", () => {
  it("names properties in folders of wire JSON only", () => {
    const inside = sources.filter(({ path }) => !/^src\/http\/(?:[^/]+\/)?wire\//.test(path))
    assert.deepStrictEqual(
      complaints(inside, ({ code }) => matches(code, /(?<![\w"])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g)),
      []
    )
  })
})

describe("docs/glossary.md", () => {
  it("has seventy words at most, each once", () => {
    assert.deepStrictEqual(glossary.words, [...new Set(glossary.words)])
    assert.isTrue(glossary.words.length >= 40 && glossary.words.length <= 70)
  })

  it("bans words that no name of a file or an export has", () => {
    assert.isAtLeast(glossary.banned.size, 40)
    assert.deepStrictEqual(complaints([...sources, ...tests], bannedNames), [])
  })
})

describe("the state of the tree", () => {
  it("has files of one concept: 300 lines at most", () => {
    const long = [...sources, ...migrations, ...tests].filter((file) => lineCount(file) > 300)
    assert.deepStrictEqual(complaints(long, (file) => [`${lineCount(file)} lines`]), [])
  })

  it("has tests that call the API and create people with test/support/Api.ts and People.ts", () =>
    assert.deepStrictEqual(ownHelpers(tests), []))

  it("exports nothing that no other file imports", () => {
    assert.deepStrictEqual(unusedExports(sources, [...sources, ...migrations, ...tests]), [])
  })

  it("has no casts that silence the type checker in src", () => {
    assert.deepStrictEqual(
      complaints(
        sources,
        ({ text }) => matches(text, /\bas any\b|\bas never\b|@ts-(?:ignore|expect-error)|as unknown as\b/g)
      ),
      []
    )
  })

  it("has no notes of work left to do, and no test that is left out", () => {
    const notes = /\b(?:TODO|FIXME|XXX|HACK)\b/g
    assert.deepStrictEqual(
      complaints([...sources, ...migrations], ({ text }) => matches(text, notes)),
      []
    )
    const leftOut = /\b(?:it|test|describe)(?:\.effect|\.live)?\.(?:skip|todo|only|fails)\b/g
    assert.deepStrictEqual(complaints(tests, ({ code }) => matches(code, leftOut)), [])
  })

  it("has migrations that are numbered without gaps", () => {
    const numbers = migrations.map(({ path }) => /^migrations\/(\d{4})_[a-z_]+\.ts$/.exec(path)?.[1] ?? path)
    assert.deepStrictEqual(numbers, migrations.map((_, index) => String(index + 1).padStart(4, "0")))
  })
})
