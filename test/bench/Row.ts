import type { RunningServer } from "./BenchServer.ts"
import type { Spent } from "./Cpu.ts"
import type { Options } from "./Options.ts"
import type { People } from "./People.ts"

/** Measurements of one row. */
export interface Measured {
  readonly name: string
  /** Operations per second on this machine, and CPU milliseconds per operation. */
  readonly perSecond?: number
  readonly millis?: Spent
  /** Other figures, by name and unit. */
  readonly figures?: Readonly<Record<string, number>>
  readonly target?: { readonly text: string; readonly met: boolean }
}

export interface Bench {
  readonly server: RunningServer
  readonly people: People
  readonly options: Options
}

/** Load of a row in short slices, so that two servers can take turns. */
export interface Slices {
  /** Sends one slice to a warm server; returns figures by name and unit. */
  readonly next: () => Promise<Readonly<Record<string, number>>>
  readonly end?: () => Promise<void>
}

export interface Row {
  readonly name: string
  readonly measure: (bench: Bench) => Promise<ReadonlyArray<Measured>>
  /** Warms the server up; missing if the load cannot be sliced. */
  readonly slices?: (bench: Bench) => Promise<Slices>
}

export const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5)

export const percentile = (values: ReadonlyArray<number>, part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** Completes when no fan-out is left. */
export const settled = async ({ query }: RunningServer, poll = 20) => {
  for (;;) {
    const [row] = await query("SELECT EXISTS (SELECT FROM fanouts) AS waiting")
    if (row?.["waiting"] !== true) return
    await sleep(poll)
  }
}
