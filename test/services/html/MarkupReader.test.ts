import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  attributesMax,
  depthMax,
  elementsMax,
  readMarkup,
  readPageMarkup
} from "../../../src/services/html/MarkupReader.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"

const opened = (html: string) => {
  const names: Array<string> = []
  readMarkup(bounded(html), { open: (name) => names.push(name) })
  return names
}

describe("F104: foreign HTML", () => {
  it("is read as elements, texts and attributes", () => {
    const events: Array<string> = []
    readMarkup(bounded("<P CLASS='a' class='b' __proto__=c>x &amp; y<br><b>z"), {
      open: (name, attributes) => events.push(`<${name} ${JSON.stringify(attributes)}`),
      text: (text) => events.push(text),
      close: (name) => events.push(`>${name}`)
    })
    assert.deepStrictEqual(events.join(" "), "<p {\"class\":\"a\"} x  &  y <br {} >br <b {} z >b >p")
  })

  it("is read up to an element that is too deep", () => {
    assert.strictEqual(opened("<b>".repeat(depthMax)).length, depthMax)
    assert.strictEqual(opened("<b>".repeat(9 * depthMax)).length, depthMax)
    assert.strictEqual(opened("<b></b>".repeat(9 * depthMax)).length, 9 * depthMax)
  })

  it("is read up to an element or attribute beyond the maximum", () => {
    assert.strictEqual(opened("<br>".repeat(elementsMax + 9)).length, elementsMax)
    const attributes = (count: number) => Array.from({ length: count }, (_, at) => `a${at}=1`).join(" ")
    assert.deepStrictEqual(opened(`<a ${attributes(attributesMax)}><b>`), ["a", "b"])
    assert.deepStrictEqual(opened(`<i></i><a ${attributes(attributesMax + 1)}><b>`), ["i"])
  })

  it.effect("is read in turns if it is long", () =>
    Effect.gen(function*() {
      let [elements, turns] = [0, 0]
      const reading = { done: false }
      const counting = Effect.gen(function*() {
        while (!reading.done) {
          turns++
          yield* Effect.yieldNow
        }
      })
      const read = Effect.ensuring(
        readPageMarkup("<i></i>".repeat(30_000), { open: () => elements++ }),
        Effect.sync(() => void (reading.done = true))
      )
      yield* Effect.all([counting, read], { concurrency: 2 })
      assert.strictEqual(elements, 30_000)
      assert.isAbove(turns, 10)
    }))
})
