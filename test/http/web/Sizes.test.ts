import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { compressedBytesMin } from "../../../src/layers/Compression.ts"
import { ask, newPerson, publishedId, settled } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { picture, uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"
import { settingsPaths } from "../../support/SettingsPaths.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

type Reader = Effect.Success<ReturnType<typeof staffBrowser>>

/** Returns the size of a response in bytes; it is compressed unless it is small. */
const sizeOf = Effect.fnUntraced(function*(reader: Reader, path: string) {
  const { headers, status } = yield* reader.request(path, { headers: { "accept-encoding": "br" } })
  assert.strictEqual(status, 200, path)
  const bytes = Number(headers.get("content-length"))
  if (headers.get("content-encoding") === null) assert.isBelow(bytes, compressedBytesMin, path)
  return bytes
})

/** Returns the paths of the scripts that a page loads, including their imports. */
const scriptsOf = Effect.fnUntraced(function*(reader: Reader, path: string, known: Map<string, ReadonlyArray<string>>) {
  const imported = Effect.fnUntraced(function*(script: string) {
    const before = known.get(script)
    if (before !== undefined) return before
    const { text } = yield* reader.get(script)
    const found = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, one = ""]) => one)
    known.set(script, found)
    return found
  })
  const { status, text } = yield* reader.get(path)
  assert.strictEqual(status, 200, path)
  const all = new Set([...text.matchAll(/<script [^>]*src="([^"]+)"/g)].map(([, script = ""]) => script))
  // Iterating a set includes entries that are added in the meantime.
  for (const script of all) for (const one of yield* imported(script)) all.add(one)
  return all
})

layer(TestServer.layer(), { excludeTestServices: true })("sizes of pages", (it) => {
  it.effect("Home of 20 posts has at most 40 kB, a public post at most 15 kB, compressed", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada")
      const authors = yield* Effect.forEach(["bob", "cleo", "dora", "emil"], (name) => newPerson(name))
      for (const author of authors) yield* ask(ada, "POST", `/api/v1/accounts/${author.accountId}/follow`)
      const bytes = yield* Effect.promise(() => picture().png().toBuffer())
      let last = ""
      for (let at = 0; at < 20; at++) {
        const author = authors[at % authors.length]!
        const words = `Post ${at}, @ada: ${"words of some length ".repeat(12)} #tag${at} https://example.org/${at}`
        // Each kind of post with a long article: pictures with descriptions, polls, warnings, replies and boosts.
        const more = at % 5 === 0
          ? { media_ids: [(yield* uploaded(author, bytes, { description: `Picture ${at} with a description` })).id] }
          : at % 5 === 1
          ? { poll: { options: ["Yes", "No", "Perhaps", "Never"], expires_in: 3_600 } }
          : at % 5 === 2
          ? { spoiler_text: `Warning ${at}` }
          : at % 5 === 3
          ? { in_reply_to_id: last }
          : {}
        last = yield* publishedId(author, words, more)
        if (at % 5 === 4) yield* ask(authors[(at + 1) % authors.length], "POST", `/api/v1/statuses/${last}/reblog`)
      }
      yield* settled
      const browser = yield* staffBrowser(ada)
      // While the feed is rebuilt, Postgres serves the page, and boosts of posts on it do not count.
      yield* eventually(browser.get("/home"), ({ text }) => text.match(/<article /g)?.length === 20)
      assert.isBelow(yield* sizeOf(browser, "/home"), 40_000)
      assert.isBelow(yield* sizeOf(yield* staffBrowser(), `/@emil/${last}`), 15_000)
    }))

  it.effect("F283: scripts are compressed, and no page loads more than 60 kB of scripts, compressed", () =>
    Effect.gen(function*() {
      const fay = yield* newPerson("fay")
      const own = yield* publishedId(fay, "Mine")
      const browser = yield* staffBrowser(fay)
      const visitor = yield* staffBrowser()
      const paths = [
        "/home",
        "/public",
        "/public/local",
        "/notifications",
        "/conversations",
        "/publish",
        `/publish?edit=${own}`,
        `/publish?reply_to=${own}`,
        "/explore",
        "/search?q=fay",
        "/lists",
        "/bookmarks",
        "/drafts",
        "/keys",
        "/@fay",
        "/@fay/media",
        `/@fay/${own}`,
        ...settingsPaths
      ]
      const known = new Map<string, ReadonlyArray<string>>()
      const sizes = new Map<string, number>()
      const found: Array<string> = []
      for (const reader of [browser, visitor]) {
        for (const path of reader === browser ? paths : ["/", "/auth/sign_in", "/@fay", `/@fay/${own}`, "/explore"]) {
          let sum = 0
          for (const script of yield* scriptsOf(reader, path, known)) {
            const size = sizes.get(script) ?? (yield* sizeOf(reader, script))
            sizes.set(script, size)
            sum += size
          }
          if (sum >= 60_000) found.push(`${path}: ${sum} bytes of scripts`)
        }
      }
      assert.deepStrictEqual(found, [])
      // The check does see scripts: members' pages have them.
      assert.isAbove(sizes.size, 6)
    }))
})
