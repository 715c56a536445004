import { Effect, Schema } from "effect"
import { excessInTurns } from "../outbound/BoundedJson.ts"
import { validationFailed } from "../runtime/Errors.ts"
import { linesMax } from "./ImportLine.ts"
import type { ListKind } from "./Transfer.ts"

/** Maximum characters of the file, which is parsed at once, and JSON values: those of two lists. */
const charactersMax = 2 * 1_048_576
const valuesMax = 2 * linesMax + 10

const Urls = Schema.Array(Schema.String)
const Lists = Schema.Struct({ muted: Schema.optionalKey(Urls), blocked: Schema.optionalKey(Urls) })
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Union([Urls, Lists])))

/** Returns true for a file of JSON that is no file of filters, if its owner chose this kind. */
export const isJsonList = (text: string, kind: ListKind | undefined): boolean => {
  const start = text.trimStart()
  return start.startsWith("[") || (start.startsWith("{") && (kind === "blocks" || kind === "mutes"))
}

/**
 * Reads the accounts of a file as Pixelfed exports them: the URLs of follows as a list, and those of muted and blocked
 * accounts as two lists of one object. Fails for any other JSON.
 */
export const read = Effect.fnUntraced(function*(text: string, kind: ListKind | undefined) {
  const refused = validationFailed("Data is not a list of accounts")
  if (text.length > charactersMax || (yield* excessInTurns(text, valuesMax)) !== undefined) return yield* refused
  yield* Effect.yieldNow
  const file = yield* Effect.mapError(decode(text), () => refused)
  if (!("muted" in file || "blocked" in file)) return Array.isArray(file) ? file : yield* refused
  return (kind === "mutes" ? file.muted : kind === "blocks" ? file.blocked : undefined) ?? []
})
