import { Effect } from "effect"
import { isUrl } from "../discovery/LocalUrls.ts"
import { normalizeDomain, parseHandle } from "../federation/DomainNames.ts"
import { isPublicSuffix } from "../federation/DomainNames.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { readCsv } from "../text/Csv.ts"
import { yieldBudget } from "../text/Turns.ts"
import * as AccountListFile from "./AccountListFile.ts"
import * as FilterFile from "./FilterFile.ts"
import { type LineDetails, linesMax, nameCharactersMax, type NewLine } from "./ImportLine.ts"
import { byName, type ColumnName, type FileKind, guessKind, headerOf } from "./ListFileKinds.ts"
import type { ListKind } from "./Transfer.ts"

/** Rows that are read before yielding. */
const rowsPerTurn = 1_000
/** Maximum characters of an invalid row that are kept, and maximum languages of a follow. */
const invalidCharactersMax = 200
const languagesMax = 50

/** A file that was read. */
interface ReadFile {
  readonly kind: ListKind
  /** Kind by the file's content and name, if these tell it. */
  readonly guessed: FileKind | undefined
  readonly lines: ReadonlyArray<NewLine>
}

/** A server's own names. */
interface Config {
  readonly localDomain: string
  readonly publicUrl: string
}

const flag = (cell: string | undefined): boolean | undefined => {
  const text = (cell ?? "").trim().toLowerCase()
  return text === "" ? undefined : ["true", "t", "1", "yes"].includes(text)
}

const invalid = (row: ReadonlyArray<string>): NewLine => {
  const text = Array.from(row.join(",")).slice(0, invalidCharactersMax).join("")
  return { name: text, host: null, details: { text }, reason: "invalid" }
}

/** Returns the name and host of an account: by its handle, by its name here, or by the URL of its actor. */
const accountOf = (cell: string, config: Config): Pick<NewLine, "name" | "host"> | undefined => {
  const text = cell.trim().replace(/^@/, "")
  if (isUrl(text)) {
    const url = text.length > nameCharactersMax || /\s/.test(text) ? null : URL.parse(text)
    return url === null || url.href.length > nameCharactersMax
      ? undefined
      : { name: url.href, host: url.origin === config.publicUrl ? null : url.host }
  }
  const handle = parseHandle(/^[\w.-]{1,64}$/.test(text) ? `${text}@${config.localDomain}` : text)
  if (handle === undefined) return undefined
  const { domain, username } = handle
  const isOurs = domain === config.localDomain || domain === URL.parse(config.publicUrl)?.host
  const name = `${username.toLowerCase()}@${isOurs ? config.localDomain : domain}`
  return name.length > nameCharactersMax ? undefined : { name, host: isOurs ? null : domain }
}

/** Returns the domain that a row names. Refuses public suffixes, which would block every server below. */
const domainOf = (cell: string): string | undefined => {
  const domain = normalizeDomain(cell.trim().replace(/^@/, "").replace(/\.$/, ""))
  return domain === undefined || isPublicSuffix(domain) ? undefined : domain
}

const followDetails = (cell: (name: ColumnName) => string | undefined): LineDetails => {
  const showReblogs = flag(cell("reblogs"))
  const notify = flag(cell("notify"))
  const languages = (cell("languages") ?? "").split(",").map((tag) => tag.trim()).filter((tag) =>
    /^[\w-]{2,20}$/.test(tag)
  )
  return {
    ...(showReblogs !== undefined && { showReblogs }),
    ...(notify !== undefined && { notify }),
    ...(languages.length > 0 && { languages: languages.slice(0, languagesMax) })
  }
}

/** Reads one row; `columns` is undefined for a file without a header. */
const lineOf = (
  kind: Exclude<ListKind, "filters">,
  row: ReadonlyArray<string>,
  columns: ReadonlyMap<ColumnName, number> | undefined,
  config: Config
): NewLine => {
  const cell = (name: ColumnName) => row[columns?.get(name) ?? -1]
  switch (kind) {
    case "domain_blocks": {
      const name = domainOf((columns === undefined ? row[0] : cell("domain")) ?? "")
      return name === undefined ? invalid(row) : { name, host: null, details: {} }
    }
    case "bookmarks":
    case "favourites": {
      const text = ((columns === undefined ? row[0] : cell("uri")) ?? "").trim()
      const url = isUrl(text) && text.length <= nameCharactersMax ? URL.parse(text) : null
      if (url === null || url.href.length > nameCharactersMax) return invalid(row)
      return { name: url.href, host: url.origin === config.publicUrl ? null : url.host, details: {} }
    }
    case "lists": {
      const [title = "", address = ""] = columns === undefined ? row : [cell("list"), cell("account")]
      const account = accountOf(address, config)
      const list = title.replaceAll("\0", "").trim()
      if (account === undefined || list === "" || list.length > nameCharactersMax) return invalid(row)
      return { name: `${account.name} ${list}`, host: account.host, details: { list } }
    }
    case "follows":
    case "blocks":
    case "mutes": {
      const account = accountOf((columns === undefined ? row[0] : cell("account")) ?? "", config)
      if (account === undefined) return invalid(row)
      const hidden = flag(cell("notifications"))
      const details = kind === "follows"
        ? followDetails(cell)
        : kind === "mutes" && hidden !== undefined
        ? { hideNotifications: hidden }
        : {}
      return { ...account, details }
    }
  }
}

const tooMany = validationFailed(`Data are too many (maximum is ${linesMax})`)

/**
 * Reads an imported file: CSV of Mastodon, GoToSocial or Akkoma with or without a header, filters as JSON, or accounts as
 * Pixelfed's JSON. `chosenKind` is the kind that its owner chose; undefined if the file tells. Of several rows with the same name, the first counts.
 * Fails for a file that is neither, that does not tell its kind, or has more than `linesMax` rows.
 */
export const readFile = Effect.fnUntraced(function*(
  text: string,
  fileName: string,
  chosenKind: ListKind | undefined,
  config: Config
): Effect.fn.Return<ReadFile, Unprocessable> {
  if (text.trim() === "") return yield* validationFailed("Data can't be blank")
  if (chosenKind === "filters" || (chosenKind === undefined && text.trimStart().startsWith("{"))) {
    return { kind: "filters", guessed: "filters", lines: yield* FilterFile.read(text) }
  }
  const isJson = AccountListFile.isJsonList(text, chosenKind)
  const rows = isJson
    ? (yield* AccountListFile.read(text, chosenKind)).map((url) => [url])
    : yield* readCsv(text, linesMax + 2).pipe(Effect.mapError(() => validationFailed("Data is not a CSV file")))
  const [first = []] = rows
  const columns = isJson ? undefined : headerOf(first)
  const guessed = isJson ? byName(fileName) : guessKind(fileName, first, chosenKind)
  const kind = chosenKind ?? guessed
  if (kind === undefined || kind === "followers" || kind === "filters") {
    return yield* validationFailed("Kind cannot be detected from the file")
  }
  const body = columns === undefined ? rows : rows.slice(1)
  if (body.length > linesMax) return yield* tooMany
  const lines = new Map<string, NewLine>()
  const turn = yieldBudget()
  for (const [at, row] of body.entries()) {
    if (at % rowsPerTurn === rowsPerTurn - 1) yield* Effect.yieldNow
    yield* turn(row.join(""))
    const line = lineOf(kind, row.map((cell) => cell.replaceAll("\0", "")), columns, config)
    if (!lines.has(line.name)) lines.set(line.name, line)
  }
  return { kind, guessed, lines: [...lines.values()] }
})
