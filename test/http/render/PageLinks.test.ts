import { assert, describe, it } from "@effect/vitest"
import { link, offsetLink } from "../../../src/http/render/PageLinks.ts"

const server = "https://here.test"
const ends = { first: 9n, last: 1n, more: true }

/** Returns the relations in a header. */
const relations = (header: string | undefined) =>
  Array.from((header ?? "").matchAll(/rel="(\w+)"/g), ([, relation]) => relation)

describe("F445: a Link header is short enough for proxies, whatever the query was", () => {
  const headerOf = (characters: number) =>
    link(server, "/api/v1/timelines/home", ends, 20, { a: "é".repeat(characters) })

  it("of a page by ids", () => {
    assert.deepStrictEqual(relations(headerOf(10)), ["next", "prev"])
    assert.deepStrictEqual(relations(headerOf(300)), ["next"])
    assert.isAtMost(headerOf(300)?.length ?? Infinity, 3_000)
    assert.isUndefined(headerOf(1_500))
    assert.isUndefined(link(server, "/api/v1/timelines/home", ends, 20, { a: Array.from({ length: 900 }, () => "b") }))
  })

  it("of a page by offset", () => {
    const offsetOf = (characters: number) =>
      offsetLink(server, "/api/v1/trends", { limit: 20, offset: 20 }, 20, { lang: "é".repeat(characters) })
    assert.deepStrictEqual(relations(offsetOf(10)), ["next", "prev"])
    assert.deepStrictEqual(relations(offsetOf(300)), ["next"])
    assert.isUndefined(offsetOf(1_500))
  })
})
