import { Result } from "effect"

/** How deep a document may be, and how many values it may hold (row 32). */
export const jsonDepthMax = 32
export const jsonValuesMax = 10_000

const isWithin = (root: unknown): boolean => {
  // No recursion: the document decides how deep this goes.
  const waiting: Array<readonly [value: unknown, depth: number]> = [[root, 0]]
  let values = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, depth] = next
    if (typeof value !== "object" || value === null) continue
    const children = Array.isArray(value) ? value : Object.values(value)
    values += children.length
    if (depth >= jsonDepthMax || values > jsonValuesMax) return false
    for (const child of children) waiting.push([child, depth + 1])
  }
  return true
}

/** A JSON text from outside; fails where it is none, or is deeper or larger than anything that we read. */
export const parse = (text: string): Result.Result<unknown, "no JSON" | "too deep or too large"> => {
  const parsed = Result.try({ try: (): unknown => JSON.parse(text), catch: () => "no JSON" as const })
  return Result.filterOrFail(parsed, isWithin, () => "too deep or too large" as const)
}
