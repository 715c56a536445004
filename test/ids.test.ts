import { assert, describe, it } from "@effect/vitest"
import { complaints, matches, type Source, sourcesIn } from "./support/source.ts"

const sources = sourcesIn("src")
const migrations = sourcesIn("migrations")

describe("F32: ids never pass through a number of JavaScript, which holds 53 of their 64 bits", () => {
  const id = String.raw`(?:\w*Id|id|\w*_id)`

  it("in the program", () => {
    // A named id used in a larger expression is another value (a time, a count).
    const rounded = new RegExp(
      String.raw`\b(?:Number|(?:Number\.)?parseInt|parseFloat|Math\.\w+)\((?:[\w.?]+\.)?${id}[,)]`,
      "g"
    )
    assert.deepStrictEqual(complaints(sources, ({ code }) => matches(code, rounded)), [])
    const unary = new RegExp(String.raw`[(=:?,]\s*\+(?:\w+\.)*${id}\b`, "g")
    assert.deepStrictEqual(complaints(sources, ({ code }) => matches(code, unary)), [])
  })

  it("in schemas, where `IdNumber` stands for one that clients get as a number", () => {
    const typed = new RegExp(
      String
        .raw`\b${id}s?: (?:Schema\.(?:optionalKey|NullOr|Array|UndefinedOr)\()*(?:Schema\.(?:Number|Int|Finite)\b|Integer\b|Count\b)`,
      "g"
    )
    assert.deepStrictEqual(complaints(sources, ({ code }) => matches(code, typed)), [])
  })

  it("in JSON that Postgres makes, and in its types", () => {
    const built = new RegExp(
      String.raw`'${id}',\s*[\w.]+(?!\w|\.|::text|\s*::)|\b(?:\w+\.)?${id}::(?:int|integer|float8|real|numeric)\b`,
      "g"
    )
    const whole = /\brow_to_json\(|\bto_jsonb?\((?=\w)/g
    const inSql = (pattern: RegExp) => ({ literals }: Source) =>
      literals.flatMap((literal) => matches(literal, pattern))
    assert.deepStrictEqual(complaints([...sources, ...migrations], inSql(built)), [])
    // Whole rows are moved as text there, and never parsed.
    const parsed = sources.filter(({ path }) => !/^src\/(?:services\/mastodon|layers\/backup)\//.test(path))
    assert.deepStrictEqual(complaints(parsed, inSql(whole)), [])
  })
})

describe("ids from outside", () => {
  it("F10: dates are read in src/services/runtime/Moments.ts only, where they are brought between 1970 and 9999", () => {
    const others = sources.filter(({ path }) => path !== "src/services/runtime/Moments.ts")
    const read = /Date\.(?:parse|UTC)\b|DateTime\.make\w*|Schema\.Date\w*/g
    assert.deepStrictEqual(complaints(others, ({ code }) => matches(code, read)), [])
  })
})
