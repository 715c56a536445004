import { assert, describe, it } from "@effect/vitest"
import * as Reply from "../../../src/http/guard/Reply.ts"
import * as ComposedStatuses from "../../../src/http/render/ComposedStatuses.ts"
import { encode, withBytes } from "../../../src/http/wire/Keys.ts"
import type { Status } from "../../../src/http/wire/Status.ts"
import { assemble, noFigures, type StatusParts } from "../../../src/http/wire/StatusJson.ts"

/** Makes a ready text of any type. */
const readyText = (text: string) => JSON.parse(JSON.stringify(text))

const marks: NonNullable<StatusParts["marks"]> = {
  ...noFigures,
  bookmarked: false,
  favourited: false,
  muted: false,
  pinned: false,
  reblogged: false,
  votes: [],
  quoting: "denied",
  reactions: []
}
const parts: StatusParts = {
  account: readyText(`{"id":"1"}`),
  application: undefined,
  approval: `{"automatic":[]`,
  asks: false,
  body: `{"id":"2","content":"Gr\u00fc\u00dfe, \u4f60\u597d \ud83d\ude00"`,
  card: undefined,
  collections: readyText("[]"),
  figures: noFigures,
  filtered: readyText("[]"),
  marks,
  pinnable: true,
  policy: undefined,
  poll: `{"id":"3"`,
  quote: readyText("null"),
  quoting: "denied",
  reactions: undefined,
  reblog: readyText("null")
}
/** Changes of each part, all of which must be noticed. */
const changes: { readonly [Part in keyof StatusParts]: ReadonlyArray<StatusParts[Part]> } = {
  account: [readyText(`{"id":"9"}`)],
  application: [readyText("null")],
  approval: [`{"automatic":["public"]`],
  asks: [true],
  body: [`{"id":"2","content":"Hello"`],
  card: [readyText("{}")],
  collections: [readyText("[{}]")],
  figures: [
    { ...noFigures, repliesCount: 1 },
    { ...noFigures, reblogsCount: 1 },
    { ...noFigures, favouritesCount: 1 },
    { ...noFigures, quotesCount: 1 }
  ],
  filtered: [readyText("[{}]")],
  marks: [
    undefined,
    { ...marks, bookmarked: true },
    { ...marks, favourited: true },
    { ...marks, muted: true },
    { ...marks, pinned: true },
    { ...marks, reblogged: true },
    { ...marks, votes: [0] }
  ],
  pinnable: [false],
  policy: [readyText("{}")],
  poll: [undefined, `{"id":"4"`],
  quote: [readyText("{}")],
  quoting: ["automatic"],
  reactions: [readyText("[]")],
  reblog: [readyText("{}")]
}

describe("statuses that are cached whole", () => {
  it("composed statuses equal freshly rendered ones, whichever part changed, and back again", () => {
    const { bytesOf, compose } = ComposedStatuses.make()
    const check = (given: StatusParts) => {
      const text = compose(2n, given)
      assert.strictEqual(text, assemble(given))
      assert.strictEqual(Buffer.from(bytesOf(2n, text)).toString(), text)
      return text
    }
    const base = check(parts)
    for (const [part, values] of Object.entries(changes)) {
      for (const value of values) {
        assert.notStrictEqual(check({ ...parts, [part]: value }), base, part)
        assert.strictEqual(check(parts), base, part)
      }
    }
    const again = { ...parts, marks: { ...marks, votes: [] } }
    assert.strictEqual(bytesOf(2n, compose(2n, again)), bytesOf(2n, base), "what is alike is encoded once")
  })

  it("are the same list as bytes and as texts", () => {
    for (const count of [0, 1, 3]) {
      const items = Array.from(
        { length: count },
        (_, at) => encode<Pick<Status, "content">>({ content: `\u00fc${at}` })
      )
      const [one, other] = [
        Reply.list(items),
        Reply.list(withBytes(items, () => items.map((text) => Buffer.from(text))))
      ]
      const bodies = [one, other].map(({ body }) => body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : "")
      assert.strictEqual(bodies[1], bodies[0])
      assert.strictEqual(JSON.parse(bodies[1] ?? "").length, count)
      assert.strictEqual(other.headers["content-type"], one.headers["content-type"])
    }
  })
})
