import { Schema } from "effect"
import { persisted } from "../database/Persisted.ts"
import { FilterAction, FilterContext } from "../filters/Filter.ts"

/** Maximum lines of an imported file (limits of Mastodon). */
export const linesMax = 20_000
/** Maximum characters of a line's name. */
export const nameCharactersMax = 2_048

/** Reasons why a line fails. */
export const FailureReason = Schema.Literals([
  /** Not an address, domain, URL or filter. */
  "invalid",
  "not_found",
  /** The server did not respond, also not minutes later. */
  "unreachable",
  /** The account blocks the importing one or is blocked by it, moved away, or is the importing one. */
  "not_allowed",
  /** A limit of this server is reached, or the value is refused. */
  "refused"
])
export type FailureReason = typeof FailureReason.Type

/** A filter of a file of filters; `statuses` are URLs. */
export const FilterDetails = Schema.Struct({
  title: Schema.String,
  expiresAt: Schema.NullOr(Schema.String),
  contexts: Schema.Array(FilterContext),
  action: FilterAction,
  keywords: Schema.Array(Schema.Struct({ keyword: Schema.String, wholeWord: Schema.Boolean })),
  statuses: Schema.Array(Schema.String)
})
export type FilterDetails = typeof FilterDetails.Type

/** Values of a line besides its name. Null or absent: the file does not have the value. */
export const LineDetails = Schema.Struct({
  showReblogs: Schema.optionalKey(Schema.Boolean),
  notify: Schema.optionalKey(Schema.Boolean),
  languages: Schema.optionalKey(Schema.Array(Schema.String)),
  hideNotifications: Schema.optionalKey(Schema.Boolean),
  /** Title of the list that the account is on. */
  list: Schema.optionalKey(Schema.String),
  /** Text of an invalid line. */
  text: Schema.optionalKey(Schema.String),
  filter: Schema.optionalKey(FilterDetails)
})
export type LineDetails = typeof LineDetails.Type
/** Stored form of the details. */
export const PersistedDetails = persisted(LineDetails, 1)

/** A line of a file, before it is stored. */
export interface NewLine {
  /**
   * Identifies what the line names: `name@domain` in lower case, a domain, a URL, or a filter's title. A line of a list
   * has the list's title after the handle and a space.
   */
  readonly name: string
  /** Host to ask for the subject; null if none is. */
  readonly host: string | null
  readonly details: LineDetails
  /** Set for a line that cannot be imported. */
  readonly reason?: FailureReason
}

/** Options of an import of lines. */
export const ImportOptions = Schema.Struct({
  /** True if relations that the file lacks are removed. */
  overwrite: Schema.Boolean,
  /** True if the accounts of imported lists are followed. */
  follow: Schema.Boolean,
  /** Kind that the file seems to have, if another one was chosen. */
  seems: Schema.optionalKey(Schema.String)
})
export type ImportOptions = typeof ImportOptions.Type
export const decodeOptions = Schema.decodeUnknownEffect(ImportOptions)

/** Returns the handle of a line's name: a line of a list has the title behind it. */
export const handleOf = (name: string): string => name.split(" ", 1)[0] ?? name

/** An existing relation that an overwriting import removes. */
export interface Removal {
  readonly id: bigint
  readonly subjectId: bigint | null
  readonly name: string
  readonly list: string
}

/** A line that failed. */
export interface FailedLine {
  readonly place: number
  readonly name: string
  readonly details: LineDetails
  readonly reason: FailureReason
}
