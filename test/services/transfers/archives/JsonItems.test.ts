import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { itemBytesMax, itemsOf } from "../../../../src/services/transfers/archives/JsonItems.ts"

const read = (text: string | Uint8Array, chunkBytes = 7, name: string | null = "orderedItems") => {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text
  const chunks = Array.from(
    { length: Math.ceil(bytes.length / chunkBytes) },
    (_, at) => bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes)
  )
  return Stream.runCollect(itemsOf(Stream.fromIterable(chunks), name ?? undefined))
}
const parsed = (text: string, chunkBytes?: number) =>
  Effect.map(read(text, chunkBytes), (items) => items.map((item): unknown => JSON.parse(item)))

describe("the items of a JSON document that arrives in parts", () => {
  it.effect("are those that JSON.parse finds, wherever the parts are cut", () =>
    Effect.gen(function*() {
      const values = [0, -1.5e9, "", "a,b]}", "\\\"[{", "\u2028ü🐦", true, null, [], {}, [[1, "]"], { a: [","] }], {
        orderedItems: ["no"]
      }]
      for (let chunk = 1; chunk <= 20; chunk++) {
        for (const orderedItems of [[], ...values.map((value) => [value]), values]) {
          for (const before of values) {
            const text = JSON.stringify(
              {
                "@context": [before],
                summary: "orderedItems",
                nested: { orderedItems: [before] },
                before,
                orderedItems,
                totalItems: 3
              },
              null,
              chunk % 3
            )
            assert.deepStrictEqual(yield* parsed(text, chunk), orderedItems)
          }
        }
      }
    }))

  it.effect("are those of a document that is an array itself, if no array is named", () =>
    Effect.gen(function*() {
      const found = (text: string, chunkBytes: number) =>
        Effect.map(read(text, chunkBytes, null), (items) => items.map((item): unknown => JSON.parse(item)))
      const values = [0, "a,b]}", "\\\"[{", null, [], {}, [[1, "]"], { a: [","] }], { orderedItems: ["no"] }]
      for (let chunk = 1; chunk <= 9; chunk++) {
        for (const items of [[], ...values.map((value) => [value]), values]) {
          assert.deepStrictEqual(yield* found(JSON.stringify(items, null, chunk % 3), chunk), items)
        }
        for (
          const hostile of ["", "{}", "{\"orderedItems\":[1]}", "[1", "[1]]", "[1}]", "[1] [2]", "[1] \"more\"", "1"]
        ) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(found(hostile, chunk))), hostile)
        }
      }
    }))

  it.effect("are found after a byte order mark", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* parsed("\uFEFF{\"orderedItems\":[1,\"ü\"]}"), [1, "ü"])
    }))

  it.effect("are refused in a document that is cut off, nested too deep, or of another shape", () =>
    Effect.gen(function*() {
      const hostile = [
        "",
        "[]",
        "<html>",
        "{}",
        "{\"orderedItems\":[{}",
        "{\"orderedItems\":[{}]",
        "{\"orderedItems\":{}}",
        "{\"orderedItems\":[1]}{\"orderedItems\":[2]}",
        "{\"orderedItems\":[1]} \"more\"",
        `{"a":${"[".repeat(100_000)}`,
        "}"
      ]
      for (const text of hostile) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(read(text, 65_536))), text.slice(0, 40))
      }
    }))

  it.effect("are refused if one is too large, before all of it is read", () =>
    Effect.gen(function*() {
      let pulled = 0
      const endless = Stream.concat(
        Stream.make(new TextEncoder().encode("{\"orderedItems\":[\"")),
        Stream.forever(Stream.sync(() => {
          pulled++
          return new Uint8Array(65_536).fill(97)
        }))
      )
      const exit = yield* Effect.exit(Stream.runDrain(itemsOf(endless, "orderedItems")))
      assert.isTrue(Exit.isFailure(exit))
      assert.isAtMost(pulled, itemBytesMax / 65_536 + 2)
    }))
})
