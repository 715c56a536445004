import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { make as makeDataset } from "../../../src/services/lists/FiresDataset.ts"
import { readFile } from "../../../src/services/transfers/ListFiles.ts"
import { pauseIn } from "./Pauses.ts"
import { filled, mixedText } from "./worstTexts.ts"

/** Maximum time for which the event loop may be blocked, in CPU milliseconds. */
const pauseMillisMax = 50
/** Attempts per text; the shortest pause counts, because garbage collection adds time. */
const triesMax = 5
const config = { localDomain: "here.test", publicUrl: "https://here.test" }

/** Runs `read` until one run is short enough; fails if none is. */
const assertShort = <A, E, R>(about: string, read: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    let least = Infinity
    for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
      const [, pause] = yield* pauseIn(Effect.exit(read))
      least = Math.min(least, pause)
    }
    assert.isBelow(least, pauseMillisMax, about)
  })

const datasetUrl = "https://lists.test/set"
const blockOf = (number: number) => ({
  type: "Recommendation",
  entityKind: "domain",
  entityKey: `bad${number}.example`,
  recommendedPolicy: "drop"
})
const nextTask = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
/** Reads a dataset whose pages `page` makes, each in a task of its own, as from a network. */
const readDataset = (page: (number: number) => unknown) =>
  makeDataset((url) =>
    Effect.suspend(() =>
      Effect.succeed(
        url === datasetUrl ? { endpoints: { snapshot: `${datasetUrl}/0` } } : page(Number(url.split("/").at(-1)))
      )
    ).pipe(Effect.tap(() => nextTask)), config.localDomain)(datasetUrl, undefined, 0)

describe("row 89 F416: lists of other servers", () => {
  it.effect("are not kept as pages while the next ones are read", () =>
    Effect.gen(function*() {
      setFlagsFromString("--expose-gc")
      const collect: () => void = runInNewContext("gc")
      const read: Array<WeakRef<object>> = []
      const reading = yield* readDataset((number) => {
        collect()
        const item = { text: filled("ab", 100_000) }
        read.push(new WeakRef(item))
        return { orderedItems: [item, blockOf(number)], ...(number < 7 && { next: `${datasetUrl}/${number + 1}` }) }
      })
      assert.strictEqual(reading.isComplete && reading.entries.length, 8)
      assert.strictEqual(read.length, 8)
      assert.isAtMost(read.filter((item) => item.deref() !== undefined).length, 2)
    }))
})

const fileUnits = 4_000_000
const filters = (fields: string) => `{"custom_filters":[{"title":"a","context":["home"],${fields}}]}`
/** Returns a text without the tree that concatenation leaves, as a decoded file has none. */
const flat = (text: string) => Buffer.from(text).toString()
const row = (at: number) => `user${at}@a.example`
const filterFiles: Readonly<Record<string, string>> = {
  "contexts": flat(`{"custom_filters":[{"title":"a","context":[${filled("\"\",", fileUnits)}"a"]}]}`),
  "filters": flat(`{"custom_filters":[${filled("{},", fileUnits - fileUnits % 3)}{}]}`),
  "keywords": flat(filters(`"keywords_attributes":[${"{\"keyword\":\"a\"},".repeat(fileUnits / 16)}{"keyword":"b"}]`)),
  "posts": flat(filters(`"statuses":[${filled("\"a\",", fileUnits)}"b"]`)),
  "unknown fields": flat(`{"custom_filters":[],"a":[${"[],".repeat(fileUnits / 3)}[]]}`),
  "one long text": flat(filters(`"keywords_attributes":[{"keyword":${JSON.stringify(mixedText(1_000_000))}}]`))
}
const header = "Account address,Show boosts,Notify on new posts,Languages\n"
const rowFiles: Readonly<Record<string, string>> = {
  "languages": flat(
    header + Array.from({ length: 2_000 }, (_, at) => `${row(at)},true,true,"${filled("en,", 7_800)}"`).join("\n")
  ),
  "invalid rows": flat(Array.from({ length: 2_500 }, (_, at) => `${at}${filled("x", 8_000)}`).join("\n"))
}

describe("F417: files that a member imports", () => {
  it.effect.each(Object.entries(filterFiles))(
    `block the event loop for ${pauseMillisMax} ms at most: filters with many or long %s`,
    ([name, text]) => assertShort(name, readFile(text, "a.json", "filters", config))
  )

  it.effect.each(Object.entries(rowFiles))(
    `block the event loop for ${pauseMillisMax} ms at most: follows with long %s`,
    ([name, text]) => assertShort(name, readFile(text, "a.csv", "follows", config))
  )

  it.effect("may have as many filters, keywords and posts as an account can have", () =>
    Effect.gen(function*() {
      const [filter] = [{
        title: "t",
        context: ["home"],
        keywords_attributes: Array.from({ length: 20 }, (_, at) => ({ keyword: `word ${at}`, whole_word: true })),
        statuses: Array.from({ length: 100 }, (_, at) => `https://a.example/users/someone/statuses/${at}`)
      }]
      const text = JSON.stringify({ custom_filters: Array.from({ length: 200 }, () => filter) })
      const { lines } = yield* readFile(text, "a.json", undefined, config)
      assert.strictEqual(lines.length, 200)
      assert.strictEqual(lines[199]?.details.filter?.statuses.length, 100)
    }))
})
