import { Effect, Result } from "effect"

/** Maximum depth of a document, and maximum number of its values (row 32). */
export const jsonDepthMax = 32
export const jsonValuesMax = 10_000

const quote = 0x22
const comma = 0x2c
const openList = 0x5b
const backslash = 0x5c
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Characters that are scanned before yielding. */
const charactersPerTurn = 131_072

/** Reason not to parse a text: it would take long, and no valid document needs it. */
export type Excess = "too deep" | "too large"

/** Returns a scanner that counts opening brackets, commas and depth outside of strings, before anything is parsed. */
const makeScan = (valuesMax: number) => {
  let depth = 0
  let values = 0
  let inString = false
  let escaped = false
  return (text: string, from: number, to: number): Excess | undefined => {
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at)
      if (inString) {
        if (escaped) escaped = false
        else if (unit === backslash) escaped = true
        else if (unit === quote) inString = false
      } else if (unit === quote) inString = true
      else if (unit === openList || unit === openObject) {
        if (++depth > jsonDepthMax) return "too deep"
        if (++values > valuesMax) return "too large"
      } else if (unit === closeList || unit === closeObject) depth--
      else if (unit === comma && ++values > valuesMax) return "too large"
    }
    return undefined
  }
}
/** Returns how a JSON text exceeds the bounds; undefined if it may be parsed. */
export const excessOf = (text: string): Excess | undefined => makeScan(jsonValuesMax)(text, 0, text.length)

/** Like `excessOf` for a long text; yields in between. */
export const excessInTurns = Effect.fnUntraced(function*(text: string, valuesMax = jsonValuesMax) {
  const scan = makeScan(valuesMax)
  for (let at = 0; at < text.length; at += charactersPerTurn) {
    if (at > 0) yield* Effect.yieldNow
    const excess = scan(text, at, Math.min(text.length, at + charactersPerTurn))
    if (excess !== undefined) return excess
  }
  return undefined
})

/** Parses JSON from outside; fails for invalid JSON, or if the text exceeds the bounds. */
export const parse = (text: string): Result.Result<unknown, "no JSON" | "too deep or too large"> =>
  excessOf(text) === undefined
    ? Result.try({ try: (): unknown => JSON.parse(text), catch: () => "no JSON" as const })
    : Result.fail("too deep or too large")
