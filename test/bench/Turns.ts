import type { RunningServer } from "./BenchServer.ts"
import type { Checkout } from "./Checkout.ts"
import { total } from "./Cpu.ts"
import type { Options } from "./Options.ts"
import type { People } from "./People.ts"
import type { Pair } from "./Ratios.ts"
import type { Bench, Row } from "./Row.ts"
import type { Session } from "./Sessions.ts"

/** One of the two compared sides: its source, and its data for all starts. */
export interface Side {
  readonly checkout: Checkout
  readonly dataDir: string
  readonly people: People
}

export type Sides<A> = readonly [before: A, after: A]

/** The pairs of one start by row and figure. */
export type Found = ReadonlyMap<string, ReadonlyArray<Pair>>

/** Minimum pairs per row, however long they take. */
const pairsMin = 2

/** Servers that are running or starting. */
const running = new Set<Promise<RunningServer | undefined>>()

/** Stops all running and starting servers. */
export const stop = async () => {
  const servers = [...running]
  running.clear()
  for (const server of servers) await (await server.catch(() => undefined))?.stop()
}

type Figures = Readonly<Record<string, number>>

/** Runs an act for both sides in the given order; returns both results. */
const both = async <A, B>([before, after]: Sides<A>, afterFirst: boolean, act: (side: A) => Promise<B>) => {
  const first = await act(afterFirst ? after : before)
  const second = await act(afterFirst ? before : after)
  const reply: Sides<B> = afterFirst ? [second, first] : [first, second]
  return reply
}

const collect = (found: Map<string, Array<Pair>>, row: string, [before, after]: Sides<Figures>) => {
  for (const [label, value] of Object.entries(after)) {
    const name = label === "" ? row : `${row}, ${label}`
    const pairs = found.get(name) ?? []
    found.set(name, pairs)
    pairs.push({ before: before[label] ?? Number.NaN, after: value })
  }
}

/** Returns all figures of a row that cannot be sliced, by name; some rows measure several things. */
const measureWhole = async (row: Row, bench: Bench): Promise<Figures> => {
  const figures: Record<string, number> = {}
  for (const { figures: others = {}, millis, name } of await row.measure(bench)) {
    const at = name === row.name ? "" : `${name}, `
    if (millis !== undefined) figures[`${at}CPU ms`] = total(millis)
    for (const [label, value] of Object.entries(others)) figures[`${at}${label}`] = value
  }
  return figures
}

/** Runs slices in the order ABBA, so that drift affects both sides equally. */
const takeTurns = async (
  benches: Sides<Bench>,
  make: NonNullable<Row["slices"]>,
  seconds: number,
  afterFirst: boolean
) => {
  const slices = await both(benches, afterFirst, make)
  const taken: Array<Sides<Figures>> = []
  try {
    // Not measured: the first slice runs with the other side's data in the processor's caches.
    await both(slices, afterFirst, ({ next }) => next())
    const began = performance.now()
    while (taken.length < pairsMin || performance.now() - began < seconds * 1000) {
      taken.push(await both(slices, (taken.length % 2 === 1) !== afterFirst, ({ next }) => next()))
    }
  } finally {
    await both(slices, afterFirst, async ({ end }) => end?.())
  }
  return taken
}

const turnsOf = async (row: Row, benches: Sides<Bench>, seconds: number, afterFirst: boolean) =>
  row.slices === undefined
    ? [await both(benches, afterFirst, (bench) => measureWhole(row, bench))]
    : takeTurns(benches, row.slices, seconds, afterFirst)

/**
 * Starts both servers, measures the rows of a session on both in turns, and stops them. Returns undefined if the
 * machine lacks something. `afterFirst` selects the side that runs first.
 */
export const compare = async (
  session: Session,
  sides: Sides<Side>,
  options: Options,
  afterFirst: boolean
): Promise<Found | undefined> => {
  const found = new Map<string, Array<Pair>>()
  try {
    const started = await both(sides, afterFirst, async ({ checkout, dataDir, people }) => {
      const starting = session.start(dataDir, checkout)
      running.add(starting)
      const server = await starting
      return server && { server, people, options }
    })
    const [before, after] = started
    if (before === undefined || after === undefined) return undefined
    for (const row of session.rows) {
      const name = row.name + session.suffix
      // An older checkout may not support the row.
      const taken = await turnsOf(row, [before, after], options.seconds, afterFirst).catch((error: unknown) => {
        console.error(`${name} is left out: ${String(error)}`)
        return []
      })
      for (const figures of taken) collect(found, name, figures)
    }
    return found
  } finally {
    await stop()
  }
}
