import type { Violation } from "./Checks.ts"
import { between, type Cpu } from "./Cpu.ts"
import type { Attempt, Entry, Ledger } from "./Ledger.ts"

/** Maximum time from a fault's end until the rate has recovered, in seconds. */
export const recoverySecondsMax = 10
/**
 * Window for the rate of responses, in milliseconds, and the share of the rate before the first fault that counts as
 * recovered.
 */
const rateMillis = 2_000
const rateShareMin = 0.8
/** Minimum time between a fault's end and the next fault, in milliseconds: long enough to see a recovery in time. */
export const observedMillisMin = recoverySecondsMax * 1_000 + rateMillis
/** Interval between two measurements of the rate, in milliseconds. */
const sampleMillis = 100
/** Idle share, in hundredths of a processor, below which the machine counts as saturated. */
const idleMin = 5

/** Effects of one fault. */
export interface Row {
  readonly fault: string
  readonly at: number
  /** Duration in seconds. */
  readonly duration: number
  readonly commands: number
  readonly acknowledged: number
  /** Seconds from the end of the fault until the rate had recovered for a whole window; undefined if it never did. */
  readonly recovery: number | undefined
  /** Seconds from the end of the fault until the start of the last failed request. */
  readonly failed: number
  readonly homesFailed: number
  /** Longest command, from first to last attempt, in seconds. */
  readonly slowest: number
  /** Responses that asked clients to retry, and requests without a response. */
  readonly refusals: number
  readonly noResponse: number
  readonly missing: number
  readonly duplicate: number
  readonly leftover: number
  readonly wrong: number
  /** CPU usage until the next fault, in hundredths of a processor. */
  readonly cpu: ReturnType<typeof between>
  /** True if the machine had no spare CPU, so that the times say little about the product. */
  readonly saturated: boolean
}

const hasFailed = ({ status }: Attempt) => status === 0 || status >= 500
const seconds = (millis: number) => Math.round(millis / 100) / 10

const durationOf = ({ attempts, began }: Entry) => (attempts.at(-1)?.ended ?? began) - began

/** Returns the times of all responses to commands, sorted. */
const responsesOf = ({ entries }: Ledger) =>
  entries.flatMap(({ attempts, outcome }) => outcome === "unknown" ? [] : attempts.at(-1)?.ended ?? []).sort((a, b) =>
    a - b
  )

const countOf = (responses: ReadonlyArray<number>, from: number, to: number) =>
  responses.filter((at) => at >= from && at < to).length

/**
 * Returns a row for each fault, and one for the time before. `end` is the time of the last command, and the usage until
 * then.
 */
export const rows = (
  ledger: Ledger,
  broken: ReadonlyArray<Violation>,
  start: { readonly at: number; readonly cpu: Cpu },
  end: { readonly at: number; readonly cpu: Cpu }
): ReadonlyArray<Row> => {
  const beforeFaults = { kind: "before", nodeName: "", began: start.at, ended: start.at, cpu: start.cpu }
  const faults = [beforeFaults, ...ledger.faults]
  const responses = responsesOf(ledger)
  const firstFault = ledger.faults[0]?.began ?? end.at
  const enough = countOf(responses, start.at, firstFault) / (firstFault - start.at) * rateMillis * rateShareMin
  const recoveryAt = (from: number, until: number) => {
    for (let at = from; at + rateMillis <= until; at += sampleMillis) {
      const [now, then] = [at, at + rateMillis].map((to) => countOf(responses, to - rateMillis, to))
      if (now! >= enough && then! >= enough) return seconds(at - from)
    }
    return undefined
  }
  return faults.map((fault, n): Row => {
    const next = faults[n + 1] ?? { began: end.at, cpu: end.cpu }
    const until = faults[n + 1]?.began ?? Infinity
    const within = (at: number) => at >= fault.began && at < until
    const entries = ledger.entries.filter(({ began }) => within(began))
    // Attempts that the next fault interrupted count for that fault.
    const failedWithin = (attempt: Attempt) => hasFailed(attempt) && within(attempt.ended)
    const bad = ledger.entries.flatMap(({ attempts }) => attempts).filter(failedWithin)
    const lastOf = (failed: ReadonlyArray<Attempt>) =>
      seconds(Math.max(0, ...failed.map(({ began }) => began - fault.ended)))
    const noResponse = bad.filter(({ status }) => status === 0).length
    const found = broken.filter(({ at }) => at !== undefined && within(at))
    const count = (kind: Violation["kind"]) => found.filter((one) => one.kind === kind).length
    const cpu = between(fault.cpu, next.cpu, next.began - fault.began)
    return {
      fault: [fault.kind, fault.nodeName].join(" ").trim(),
      at: seconds(fault.began),
      duration: seconds(fault.ended - fault.began),
      commands: entries.length,
      acknowledged: entries.filter(({ outcome }) => outcome !== "unknown").length,
      recovery: fault === beforeFaults ? 0 : recoveryAt(fault.ended, next.began),
      failed: lastOf(bad),
      homesFailed: lastOf(ledger.readings.filter(failedWithin)),
      slowest: seconds(Math.max(0, ...entries.map(durationOf))),
      refusals: bad.length - noResponse,
      noResponse,
      missing: count("missing"),
      duplicate: count("duplicate"),
      leftover: count("leftover"),
      wrong: count("wrong"),
      cpu,
      saturated: cpu.idle < idleMin
    }
  })
}

/** Returns true if clients waited too long after a fault. */
export const isSlow = ({ recovery }: Row) => recovery === undefined || recovery > recoverySecondsMax

const columns: Record<string, (row: Row) => string | number> = {
  fault: ({ fault }) => fault,
  at: ({ at }) => at,
  duration: ({ duration }) => duration,
  commands: ({ commands }) => commands,
  acked: ({ acknowledged }) => acknowledged,
  recovery: ({ recovery }) => recovery ?? "never",
  failed: ({ failed }) => failed,
  homes: ({ homesFailed }) => homesFailed,
  slowest: ({ slowest }) => slowest,
  "503s": ({ refusals }) => refusals,
  "no response": ({ noResponse }) => noResponse,
  missing: ({ missing }) => missing,
  duplicate: ({ duplicate }) => duplicate,
  leftover: ({ leftover }) => leftover,
  wrong: ({ wrong }) => wrong,
  nodes: ({ cpu }) => cpu.nodes,
  postgres: ({ cpu }) => cpu.postgres,
  redis: ({ cpu }) => cpu.redis,
  load: ({ cpu }) => cpu.load,
  others: ({ cpu }) => cpu.others,
  idle: ({ cpu, saturated }) => `${cpu.idle}${saturated ? " saturated" : ""}`
}

export const legend = `times in seconds after the end of the fault: \`recovery\` until the rate of responses over ${
  rateMillis / 1_000
} s was ${
  rateShareMin * 100
}% of the rate before the first fault; \`failed\` and \`homes\` until the last failed request was sent; \`nodes\` to
\`idle\`: CPU usage in hundredths of a processor`

export const table = (found: ReadonlyArray<Row>): string => {
  const names = Object.keys(columns)
  const cells = [names, ...found.map((row) => Object.values(columns).map((column) => String(column(row))))]
  const widths = names.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)))
  return cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at]!)).join("  ").trimEnd()).join("\n")
}

export const summary = (ledger: Ledger, broken: ReadonlyArray<Violation>, found: ReadonlyArray<Row>) => {
  const { entries, events, readings } = ledger
  const of = (outcome: Entry["outcome"]) => entries.filter((entry) => entry.outcome === outcome).length
  const count = (kind: Violation["kind"]) => broken.filter((one) => one.kind === kind).length
  const recoveries = found.map(({ recovery }) => recovery ?? Infinity)
  return {
    commands: entries.length,
    acknowledged: of("done"),
    refused: of("refused"),
    unknown: of("unknown"),
    homesRead: readings.length,
    homesFailed: readings.filter(hasFailed).length,
    eventsReceived: events.length,
    slowestSeconds: seconds(Math.max(0, ...entries.map(durationOf))),
    slowestRecoverySeconds: recoveries.includes(Infinity) ? "never" : Math.max(0, ...recoveries),
    saturated: found.filter(({ saturated }) => saturated).length,
    missing: count("missing"),
    duplicate: count("duplicate"),
    leftover: count("leftover"),
    wrong: count("wrong")
  }
}
