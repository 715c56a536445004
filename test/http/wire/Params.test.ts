import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Cursor } from "../../../src/http/wire/PageQuery.ts"
import { Flag, Integer, list, Text } from "../../../src/http/wire/Params.ts"

const Parameters = Schema.Struct({
  flag: Schema.optionalKey(Flag),
  number: Schema.optionalKey(Integer),
  texts: Schema.optionalKey(list(Text)),
  text: Schema.optionalKey(Text)
})
const decode = Schema.decodeUnknownSync(Parameters)
const ofQuery = Schema.decodeUnknownSync(Schema.toCodecArrayFromSingle(Schema.toCodecStringTree(Parameters)))

describe("S-120 parameters", () => {
  it.each<[unknown, boolean | undefined]>([
    ...[false, 0, "0", "f", "F", "false", "FALSE", "off", "OFF"].map((value): [unknown, boolean] => [value, false]),
    ...[true, 1, "1", "t", "true", "TRUE", "on", "no", "False", " "].map((value): [unknown, boolean] => [value, true]),
    ["", undefined],
    [null, undefined]
  ])("the flag %j is %s", (flag, expected) => assert.deepStrictEqual(decode({ flag }), { flag: expected }))

  it.each<[unknown, number | undefined]>([
    ["12", 12],
    [12, 12],
    [12.9, 12],
    ["-3", -3],
    ["7 apples", 7],
    ["abc", undefined],
    ["", undefined],
    [null, undefined],
    ["9".repeat(30), undefined]
  ])("the number %j is %s", (number, expected) => assert.deepStrictEqual(decode({ number }), { number: expected }))

  it.each<[unknown, ReadonlyArray<string>]>([
    [["a", 1, true], ["a", "1", "true"]],
    ["a", ["a"]],
    [5, ["5"]],
    [null, []],
    ["", []],
    [["", "a"], ["a"]]
  ])("the list %j is %j", (texts, expected) => assert.deepStrictEqual(decode({ texts }), { texts: expected }))

  it("are the same in a query, where everything is text", () => {
    assert.deepStrictEqual(ofQuery({ flag: "off", number: "3", texts: "a", text: "true" }), {
      flag: false,
      number: 3,
      texts: ["a"],
      text: "true"
    })
    assert.deepStrictEqual(ofQuery({ texts: ["1", "2"] }), { texts: ["1", "2"] })
    const exact = { texts: ["117653680816914433", "007"], text: "1e3" }
    assert.deepStrictEqual(ofQuery(exact), exact, "nothing becomes a number on its way")
    const cursor = Schema.decodeUnknownSync(Schema.toCodecStringTree(Schema.Struct({ maxId: Cursor })))
    assert.deepStrictEqual(cursor({ maxId: "117653680816914433" }), { maxId: 117653680816914433n })
    assert.deepStrictEqual(decode({ text: 5 }), { text: "5" })
    assert.throws(() => decode({ text: {} }))
  })
})
