import { Effect, Option, Schema } from "effect"
import { asText, isId } from "../federation/documents/ForeignValues.ts"
import { filterActions, filterContexts, filterKeywordsMax, filtersMax } from "../filters/Filter.ts"
import { excessInTurns } from "../outbound/BoundedJson.ts"
import { validationFailed } from "../runtime/Errors.ts"
import { momentOf } from "../runtime/Moments.ts"
import { type FilterDetails, nameCharactersMax, type NewLine } from "./ImportLine.ts"

/**
 * Maximum characters and JSON values of a file of filters, which is parsed at once. The values suffice for the keywords
 * and posts that an account's filters may have.
 */
const charactersMax = 2 * 1_048_576
const valuesMax = 40_000
/** Maximum posts that are kept of one filter, and characters of its title; a longer title is refused later. */
const statusesMax = 100
const titleCharactersMax = 500

/** The file that Mastodon 4.6 exports; fields beyond these are ignored. */
const File = Schema.Struct({ ["custom_filters"]: Schema.Array(Schema.Unknown) })
const decodeFile = Schema.decodeUnknownEffect(Schema.fromJsonString(File))
const ExportedFilter = Schema.Struct({
  title: Schema.String,
  ["expires_at"]: Schema.optionalKey(Schema.NullOr(Schema.String)),
  context: Schema.Array(Schema.String),
  action: Schema.optionalKey(Schema.String),
  ["keywords_attributes"]: Schema.optionalKey(
    Schema.Array(Schema.Struct({ keyword: Schema.String, ["whole_word"]: Schema.optionalKey(Schema.Boolean) }))
  ),
  statuses: Schema.optionalKey(Schema.Array(Schema.String))
})
const decodeFilter = Schema.decodeUnknownOption(ExportedFilter)

const detailsOf = (given: typeof ExportedFilter.Type, title: string): FilterDetails => {
  const expiresAt = given["expires_at"] ?? null
  return {
    title,
    expiresAt: expiresAt === null || momentOf(expiresAt) === undefined ? null : expiresAt,
    contexts: filterContexts.filter((context) => given.context.includes(context)),
    action: filterActions.find((action) => action === given.action) ?? "warn",
    keywords: (given["keywords_attributes"] ?? []).slice(0, filterKeywordsMax).map((one) => ({
      keyword: asText(one.keyword, nameCharactersMax) ?? "",
      wholeWord: one["whole_word"] ?? true
    })),
    statuses: (given.statuses ?? []).filter(isId).slice(0, statusesMax)
  }
}

/** Returns a title that no earlier filter of the file has, as titles identify filters. */
const freeTitle = (title: string, taken: ReadonlyMap<string, unknown>): string => {
  let free = title
  for (let number = 2; taken.has(free); number++) free = `${title} (${number})`
  return free
}

/** Reads a file of filters as Mastodon exports it. Fails for another text, and for more than `filtersMax` filters. */
export const read = Effect.fnUntraced(function*(text: string) {
  const isLong = text.length > charactersMax || (yield* excessInTurns(text, valuesMax)) !== undefined
  yield* Effect.yieldNow
  const file = isLong ? undefined : yield* Effect.orElseSucceed(decodeFile(text), () => undefined)
  if (file === undefined) return yield* validationFailed("Data is not a file of filters")
  const filters = file["custom_filters"]
  if (filters.length > filtersMax) return yield* validationFailed(`Data are too many (maximum is ${filtersMax})`)
  const lines = new Map<string, NewLine>()
  for (const [at, filter] of filters.entries()) {
    yield* Effect.yieldNow
    const given = Option.getOrUndefined(decodeFilter(filter))
    if (given === undefined) {
      const name = freeTitle(`#${at + 1}`, lines)
      lines.set(name, { name, host: null, details: { text: name }, reason: "invalid" })
      continue
    }
    const title = freeTitle((asText(given.title, titleCharactersMax) ?? "").trim(), lines)
    lines.set(title, { name: title, host: null, details: { filter: detailsOf(given, title) } })
  }
  return [...lines.values()]
})
