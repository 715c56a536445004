import type { Attempt, Entry, Ledger } from "./Ledger.ts"
import type { Broken } from "./Verdicts.ts"

/** Time in which the rate must be back after a fault, in seconds. */
export const backSecondsMax = 10

/** What one fault did. */
export interface Row {
  readonly fault: string
  readonly at: number
  /** Seconds that it lasted. */
  readonly lasted: number
  readonly commands: number
  readonly acknowledged: number
  /** Attempts that failed, by status. */
  readonly failures: string
  /** Seconds from the end of the fault until a request was sent for the last time that failed. */
  readonly back: number
  readonly homesBack: number
  /** Of a command, from first to last, in seconds. */
  readonly slowest: number
  readonly missing: number
  readonly doubled: number
  readonly left: number
  readonly wrong: number
}

const isBad = ({ status }: Attempt) => status === 0 || status >= 500
const seconds = (millis: number) => Math.round(millis / 100) / 10

const lastedOf = ({ attempts, began }: Entry) => (attempts.at(-1)?.ended ?? began) - began

/** A row for each fault, and one for what came before. */
export const rows = (ledger: Ledger, broken: ReadonlyArray<Broken>): ReadonlyArray<Row> => {
  const calm = { kind: "before", where: "", began: 0, ended: 0 }
  const faults = [calm, ...ledger.faults]
  return faults.map((fault, n): Row => {
    const until = faults[n + 1]?.began ?? Infinity
    const within = (at: number) => at >= fault.began && at < until
    const entries = ledger.entries.filter(({ began }) => within(began))
    // What the next fault cut short is its own.
    const hit = (attempt: Attempt) => isBad(attempt) && within(attempt.ended)
    const bad = ledger.entries.flatMap(({ attempts }) => attempts).filter(hit)
    const backOf = (failed: ReadonlyArray<Attempt>) =>
      seconds(Math.max(0, ...failed.map(({ began }) => began - fault.ended)))
    const counts = new Map<number, number>()
    for (const { status } of bad) counts.set(status, (counts.get(status) ?? 0) + 1)
    const found = broken.filter(({ at }) => at !== undefined && within(at))
    const count = (what: Broken["what"]) => found.filter((one) => one.what === what).length
    return {
      fault: [fault.kind, fault.where].join(" ").trim(),
      at: seconds(fault.began),
      lasted: seconds(fault.ended - fault.began),
      commands: entries.length,
      acknowledged: entries.filter(({ outcome }) => outcome !== "unknown").length,
      failures: [...counts].map(([status, times]) => `${status}: ${times}`).join(" "),
      back: backOf(bad),
      homesBack: backOf(ledger.readings.filter(hit)),
      slowest: seconds(Math.max(0, ...entries.map(lastedOf))),
      missing: count("missing"),
      doubled: count("doubled"),
      left: count("left"),
      wrong: count("wrong")
    }
  })
}

const columns: ReadonlyArray<keyof Row> = [
  "fault",
  "at",
  "lasted",
  "commands",
  "acknowledged",
  "failures",
  "back",
  "homesBack",
  "slowest",
  "missing",
  "doubled",
  "left",
  "wrong"
]

export const table = (found: ReadonlyArray<Row>): string => {
  const cells = [columns.map(String), ...found.map((row) => columns.map((column) => String(row[column])))]
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)))
  return cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at]!)).join("  ").trimEnd()).join("\n")
}

export const summary = (ledger: Ledger, broken: ReadonlyArray<Broken>) => {
  const { entries, heard, readings } = ledger
  const of = (outcome: Entry["outcome"]) => entries.filter((entry) => entry.outcome === outcome).length
  const count = (what: Broken["what"]) => broken.filter((one) => one.what === what).length
  return {
    commands: entries.length,
    acknowledged: of("done"),
    refused: of("refused"),
    unknown: of("unknown"),
    homesRead: readings.length,
    homesFailed: readings.filter(isBad).length,
    eventsHeard: heard.length,
    slowestSeconds: seconds(Math.max(0, ...entries.map(lastedOf))),
    missing: count("missing"),
    doubled: count("doubled"),
    left: count("left"),
    wrong: count("wrong")
  }
}
