import { Effect, Option, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { csvLine } from "../text/Csv.ts"
import { type FailedLine, handleOf } from "./ImportLine.ts"
import type { ImportLines } from "./ImportLines.ts"
import type { ListKind, ListTransfer } from "./Transfer.ts"

/** Lines of one read. */
const pageLines = 1_000

const addressOnly: ReadonlyArray<string> = ["Account address"]

/** Columns of the failures of each kind, so that the file can be imported again; the reason is ignored there. */
const headers: Readonly<Record<ListKind, ReadonlyArray<string>>> = {
  follows: ["Account address", "Show boosts", "Notify on new posts", "Languages"],
  lists: ["List name", "Account address"],
  blocks: addressOnly,
  mutes: ["Account address", "Hide notifications"],
  ["domain_blocks"]: ["#domain"],
  bookmarks: ["#uri"],
  favourites: ["#uri"],
  filters: ["Title"]
}

const cellsOf = (kind: ListKind, { details, name }: FailedLine): ReadonlyArray<string> => {
  if (details.text !== undefined) return kind === "lists" ? ["", details.text] : [details.text]
  switch (kind) {
    case "follows":
      return [
        name,
        String(details.showReblogs ?? ""),
        String(details.notify ?? ""),
        (details.languages ?? []).join(", ")
      ]
    case "lists":
      return [details.list ?? "", handleOf(name)]
    case "mutes":
      return [name, String(details.hideNotifications ?? "")]
    default:
      return [name]
  }
}

/** Returns a CSV file of the lines of an import that failed, in parts, with the reason in the last column. */
export const failureFile = (
  lines: ImportLines["Service"],
  { id, kind }: ListTransfer
): Stream.Stream<string, SqlError> => {
  const header = headers[kind]
  const rowOf = (line: FailedLine) => {
    const cells = cellsOf(kind, line)
    return csvLine([...header.map((_, at) => cells[at] ?? ""), line.reason])
  }
  const body = Stream.paginate(-1, (after: number) =>
    Effect.map(lines.failures(id, after, pageLines), (rows) =>
      [
        [rows.map(rowOf).join("")],
        rows.length < pageLines ? Option.none<number>() : Option.fromUndefinedOr(rows.at(-1)?.place)
      ] as const))
  return Stream.concat(Stream.make(csvLine([...header, "Reason"])), body)
}
