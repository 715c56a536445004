import { Effect, Stream } from "effect"
import { Csv } from "effect/encoding"
import { readCsv } from "../text/Csv.ts"
import { listedDomain, listEntriesMax, type ListEntry } from "./ListEntry.ts"

/** Maximum characters taken of a comment. */
const commentCharactersMax = 500
/** Rows of a list that are read before yielding. */
const rowsPerTurn = 2_000

const header = ["#domain", "#severity", "#reject_media", "#reject_reports", "#public_comment", "#obfuscate"]

/** Entries of a CSV text, and the number of unusable rows. */
interface ReadCsv {
  readonly entries: ReadonlyArray<ListEntry>
  readonly skipped: number
}

const flag = (text: string | undefined) => ["true", "t", "1", "yes"].includes((text ?? "").trim().toLowerCase())

/**
 * Reads blocks as Mastodon exports them: a header names the columns; without one, the only column is the domain.
 * `onlyAction` is the action of rows without a severity, and of every row if it is `accept`. The first row of a domain
 * counts. Undefined for a text that is not CSV, or is too long.
 */
export const read = (
  text: string,
  onlyAction: "accept" | "reject",
  localDomain: string
): Effect.Effect<ReadCsv | undefined> =>
  readCsv(text, listEntriesMax + 2).pipe(
    Effect.flatMap((rows) => entriesOf(rows, onlyAction, localDomain)),
    Effect.orElseSucceed(() => undefined)
  )

const columnNames = ["domain", "severity", "public_comment", "reject_media", "reject_reports", "obfuscate"] as const

const entriesOf = Effect.fnUntraced(function*(
  rows: ReadonlyArray<ReadonlyArray<string>>,
  onlyAction: "accept" | "reject",
  localDomain: string
): Effect.fn.Return<ReadCsv | undefined> {
  const [first = []] = rows
  const named = first.map((cell) => cell.trim().toLowerCase().replace(/^#/, ""))
  const isHeader = named.includes("domain")
  const columns = isHeader ? named : ["domain"]
  // A header may have thousands of columns.
  const places = new Map(columnNames.map((name) => [name, columns.indexOf(name)]))
  const body = isHeader ? rows.slice(1) : rows
  if (body.length > listEntriesMax) return undefined
  const found = new Map<string, ListEntry>()
  let skipped = 0
  for (const [at, row] of body.entries()) {
    if (at % rowsPerTurn === rowsPerTurn - 1) yield* Effect.yieldNow
    const cell = (name: (typeof columnNames)[number]) => row[places.get(name) ?? -1]
    const domain = listedDomain(cell("domain") ?? "", localDomain)
    const severity = (cell("severity") ?? "").trim().toLowerCase()
    const action = onlyAction === "accept" || severity === ""
      ? onlyAction
      : severity === "suspend"
      ? "reject"
      : severity === "silence" || severity === "limit"
      ? "limit"
      : undefined
    if (domain === undefined || action === undefined || found.has(domain)) {
      skipped++
      continue
    }
    const comment = Array.from((cell("public_comment") ?? "").replaceAll("\0", "").trim()).slice(
      0,
      commentCharactersMax
    )
    found.set(domain, {
      domain,
      action,
      rejectMedia: flag(cell("reject_media")),
      rejectReports: flag(cell("reject_reports")),
      publicComment: comment.length === 0 ? null : comment.join(""),
      obfuscate: flag(cell("obfuscate"))
    })
  }
  return { entries: [...found.values()], skipped }
})

/** Writes blocks as Mastodon exports them. */
export const write = (
  blocks: ReadonlyArray<{
    readonly domain: string
    readonly severity: string
    readonly rejectMedia: boolean
    readonly rejectReports: boolean
    readonly publicComment: string | null
    readonly obfuscate: boolean
  }>
): Effect.Effect<string> =>
  Stream.fromIterable([
    header,
    ...blocks.map((block) => [
      block.domain,
      block.severity,
      String(block.rejectMedia),
      String(block.rejectReports),
      block.publicComment ?? "",
      String(block.obfuscate)
    ])
  ]).pipe(
    Stream.pipeThroughChannel(Csv.encodeString({ newline: "\n" })),
    Stream.mkString,
    Effect.orDie
  )
