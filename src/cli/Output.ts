import { Console } from "effect"
import { Flag } from "effect/cli"
import * as Keys from "../http/wire/Keys.ts"
import { terminalJson, terminalLine, terminalText } from "../services/text/TerminalText.ts"

/** Flag of commands that list or show. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Prints JSON for scripts instead of text"),
  Flag.withDefault(false)
)

/** Ids become strings and times ISO 8601, as in the API. */
const portable = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(portable)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, portable(inner)]))
}

/** Prints what a command lists or shows: `text`, or with `--json` the value, with the API's key names. */
export const print = (asJson: boolean, value: object, text: string) =>
  Console.log(
    asJson
      ? terminalJson(JSON.stringify(JSON.parse(Keys.json<unknown>(portable(value))), null, 2))
      : terminalText(text)
  )

/** Prints a list: a line for each item, `none` if it is empty, or with `--json` an array. */
export const printList = (asJson: boolean, items: ReadonlyArray<object>, lines: ReadonlyArray<string>, none: string) =>
  print(asJson, items, lines.length === 0 ? none : lines.map(terminalLine).join("\n"))

/** Returns a number with its noun: "1 follower", "2 followers". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
