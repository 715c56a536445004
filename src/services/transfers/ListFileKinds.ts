import { isUrl } from "../discovery/LocalUrls.ts"
import { parseHandle } from "../federation/DomainNames.ts"
import { normalizeDomain } from "../federation/DomainNames.ts"
import type { ListKind } from "./Transfer.ts"

/** A file of another server; a file of followers cannot be imported, but is recognised. */
export type FileKind = ListKind | "followers"

/** Columns of known headers by name in lower case; Mastodon, GoToSocial and Akkoma write these. */
const columnNames = {
  account: ["account address", "account", "acct"],
  reblogs: ["show boosts"],
  notify: ["notify on new posts"],
  languages: ["languages"],
  notifications: ["hide notifications"],
  list: ["list name", "list title", "list"],
  domain: ["#domain", "domain"],
  uri: ["#uri", "uri"]
} as const satisfies Record<string, ReadonlyArray<string>>
export type ColumnName = keyof typeof columnNames

/** Returns the places of known columns; undefined for a row that is no header. */
export const headerOf = (row: ReadonlyArray<string>): ReadonlyMap<ColumnName, number> | undefined => {
  const named = row.map((cell) => cell.trim().toLowerCase())
  const places = new Map<ColumnName, number>()
  for (
    const column of ["account", "reblogs", "notify", "languages", "notifications", "list", "domain", "uri"] as const
  ) {
    const place = named.findIndex((name) => columnNames[column].some((one) => one === name))
    if (place >= 0) places.set(column, place)
  }
  return places.has("account") || places.has("domain") || places.has("uri") ? places : undefined
}

/** Words of file names, in the order in which they are tried. */
const fileNames: ReadonlyArray<readonly [RegExp, FileKind]> = [
  [/followers/i, "followers"],
  // Akkoma names the file of follows friends.csv.
  [/follow|^friends\b/i, "follows"],
  [/(?:blocked|block)[-_ ]?(?:domains?|instances?)|(?:domains?|instances?)[-_ ]?blocks?/i, "domain_blocks"],
  [/block/i, "blocks"],
  [/mute/i, "mutes"],
  [/bookmark/i, "bookmarks"],
  [/favou?rite|\blikes\b/i, "favourites"],
  [/list/i, "lists"],
  [/filter/i, "filters"]
]

/** Returns the kind of a file by its name; undefined if it does not tell. */
export const byName = (fileName: string): FileKind | undefined =>
  fileNames.find(([pattern]) => pattern.test(fileName))?.[1]

const byHeader = (columns: ReadonlyMap<ColumnName, number>): FileKind | undefined => {
  if (columns.has("list")) return "lists"
  if (columns.has("reblogs") || columns.has("notify") || columns.has("languages")) return "follows"
  if (columns.has("notifications")) return "mutes"
  if (columns.has("domain")) return "domain_blocks"
  return columns.has("uri") ? "bookmarks" : undefined
}

const byCells = ([first = "", second]: ReadonlyArray<string>): FileKind | undefined => {
  if (second !== undefined && parseHandle(second) !== undefined) return "lists"
  if (isUrl(first.trim()) && !isActorUrl(first)) return "bookmarks"
  if (parseHandle(first) !== undefined) return undefined
  return normalizeDomain(first.trim()) !== undefined ? "domain_blocks" : undefined
}

/** Returns true for the usual addresses of accounts: servers such as Akkoma list some accounts by them. */
const isActorUrl = (text: string): boolean => /\/(?:users|actor|profile|u)\/[^/]+\/?$|\/@[^/]+\/?$/.test(text.trim())

/**
 * Returns the kind of a CSV file: by its header, by its first row, then by its name; undefined if these do not tell.
 * Bookmarks and favourites have the same form: the name decides, then the owner's choice.
 */
export const guessKind = (
  fileName: string,
  first: ReadonlyArray<string>,
  chosenKind?: ListKind
): FileKind | undefined => {
  const columns = headerOf(first)
  const byForm = columns === undefined ? byCells(first) : byHeader(columns)
  const named = byName(fileName)
  if (byForm !== "bookmarks") return byForm ?? named
  return [named, chosenKind].find((kind) => kind === "bookmarks" || kind === "favourites") ?? byForm
}
