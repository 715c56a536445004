import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  arrayValuesMax,
  flatten,
  formDepthMax,
  fromJson,
  isFlat,
  nest,
  parametersMax,
  Refused
} from "../../../src/http/body/Parameters.ts"
import { jsonDepthMax } from "../../../src/services/outbound/BoundedJson.ts"

const form = (text: string) => nest(new URLSearchParams(text))
const refuses = (run: () => unknown) => {
  assert.throws(run, Refused)
}

describe("Rails' brackets", () => {
  it.each<[string, unknown]>([
    ["", {}],
    ["status=hi+there&sensitive", { status: "hi there", sensitive: "" }],
    ["a=1&a=2", { a: "2" }],
    ["media_ids[]=1&media_ids%5B%5D=2", { media_ids: ["1", "2"] }],
    ["media_ids[]=1", { media_ids: ["1"] }],
    ["poll[options][]=x&poll[options][]=y&poll[expires_in]=300", { poll: { options: ["x", "y"], expires_in: "300" } }],
    ["fields_attributes[0][name]=a&fields_attributes[0][value]=b&fields_attributes[1][name]=c", {
      fields_attributes: [{ name: "a", value: "b" }, { name: "c" }]
    }],
    ["f[1][n]=b&f[0][n]=a", { f: [{ n: "a" }, { n: "b" }] }],
    ["m[][id]=1&m[][focus]=x&m[][id]=2&m[][focus]=y", { m: [{ id: "1", focus: "x" }, { id: "2", focus: "y" }] }],
    ["m[][id]=1&m[][o][]=x&m[][o][]=y&m[][id]=2", { m: [{ id: "1", o: ["x", "y"] }, { id: "2" }] }],
    ["source[privacy]=private&source[language]=", { source: { privacy: "private", language: "" } }],
    ["home[last_read_id]=9", { home: { last_read_id: "9" } }]
  ])("%s", (text, expected) => assert.deepStrictEqual(JSON.parse(JSON.stringify(form(text))), expected))

  it("bounds names, values and depth", () => {
    assert.doesNotThrow(() => form(Array.from({ length: parametersMax }, (_, i) => `a${i}=`).join("&")))
    refuses(() => form(Array.from({ length: parametersMax + 1 }, (_, i) => `a${i}=`).join("&")))
    assert.doesNotThrow(() => form("a[]=1&".repeat(arrayValuesMax)))
    refuses(() => form("a[]=1&".repeat(arrayValuesMax + 1)))
    refuses(() => form(`a[${arrayValuesMax + 1}]=x`))
    assert.doesNotThrow(() => form(`a${"[b]".repeat(formDepthMax)}=1`))
    refuses(() => form(`a${"[b]".repeat(formDepthMax + 1)}=1`))
  })
})

describe("JSON", () => {
  it("takes plain arrays, objects of numeric names and an empty body", () => {
    assert.deepStrictEqual(fromJson(`{"a":[1,true,null],"f":{"1":{"n":"b"},"0":{"n":"a"}}}`), {
      a: [1, true, null],
      f: [{ n: "a" }, { n: "b" }]
    })
    assert.deepStrictEqual(fromJson(""), {})
  })

  it("refuses malformed or deeply nested input", () => {
    refuses(() => fromJson("{"))
    // F14: input that was already scanned is not scanned again in the same turn.
    const deep = `${"[".repeat(40)}${"]".repeat(40)}`
    refuses(() => fromJson(deep))
    assert.deepStrictEqual(JSON.stringify(fromJson(deep, null)), deep)
    refuses(() => fromJson("{'a':1}"))
    assert.doesNotThrow(() => fromJson("[".repeat(jsonDepthMax) + "]".repeat(jsonDepthMax)))
    refuses(() => fromJson("[".repeat(jsonDepthMax + 1) + "]".repeat(jsonDepthMax + 1)))
    refuses(() => fromJson("[".repeat(500_000)))
  })
})

describe("harmful names and texts", () => {
  it.each([
    "__proto__[x]=1",
    "a[__proto__]=1",
    "a[constructor][prototype][x]=1",
    "prototype=1",
    "__proto__=1",
    "a=%00"
  ])(
    "%s",
    (text) => {
      refuses(() => form(text))
      assert.notProperty({}, "x")
    }
  )

  it.each([`{"__proto__":{"x":1}}`, `{"a":[{"constructor":1}]}`, `{"a":"\\u0000"}`, `{"a\\u0000":1}`])(
    "%s",
    (text) => {
      refuses(() => fromJson(text))
      assert.notProperty({}, "x")
    }
  )

  it("repairs half a surrogate pair, which no database stores", () => {
    assert.deepStrictEqual(fromJson(`{"a":"x\\ud83d"}`), { a: "x\ufffd" })
  })
})

describe("queries of reading requests", () => {
  it.each([
    ["types[]=a&types[]=b&limit=3", "types=a&types=b&limit=3"],
    ["id%5B%5D=1&id[0]=2", "id=1&id=2"],
    ["limit=1&limit=2", "limit=2"],
    ["id=1", "id=1"],
    ["q=a%26b+c%5B%5D", "q=a%26b+c%5B%5D"],
    ["", ""]
  ])("%s", (query, expected) => assert.strictEqual(flatten(query), expected))

  it("refuses harmful names and texts", () => {
    refuses(() => flatten("__proto__=1"))
    refuses(() => flatten("q=%00"))
    refuses(() => flatten("a=&".repeat(parametersMax + 1)))
  })

  it.prop("any text is accepted unchanged", [Schema.Array(Schema.String)], ([values]) => {
    const wanted = values.map((value) => value.replaceAll("\0", "").toWellFormed())
    const query = new URLSearchParams(wanted.map((value): [string, string] => ["x[]", value])).toString()
    assert.deepStrictEqual(new URLSearchParams(flatten(query)).getAll("x"), wanted)
  })

  it.prop(
    "a query that is passed through unchanged needs no flattening",
    [
      Schema.Literals(["limit", "max_id", "__proto__", "constructor", "prototype", "a[]", "a%5B%5D", "A", ""]),
      Schema.String
    ],
    ([name, value]) => {
      for (const query of [`${name}=${value}`, `${name}=1&${name}=2`, name, value, `${name}=40`]) {
        if (isFlat(query)) assert.strictEqual(flatten(query), query)
      }
      assert.isTrue(isFlat("limit=40"))
    }
  )
})
