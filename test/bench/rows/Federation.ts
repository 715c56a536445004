import { between, spent, total } from "../Cpu.ts"
import type { Load } from "../load/Generator.ts"
import { authorNumbers, type People } from "../People.ts"
import { type Remote, seedRemote } from "../Remote.ts"
import { type Bench, type Measured, median, type Row, sleep } from "../Row.ts"

/** Concurrent connections from other servers. */
const connections = 16
/**
 * Targets: activities accepted and processed per CPU second (Node and Postgres), and documents served from the cache.
 */
const inboundTarget = 800
const documentTarget = 2_000
/** Slice when two servers take turns: number of activities, and milliseconds of document requests. */
const sliceActivities = 500
const sliceMillis = 400

/** Remote accounts by the people of the server. */
const remotes = new Map<People, Remote>()

/** Completes when no inbound activity and no fan-out is left. */
const drained = async ({ server }: Bench) => {
  for (;;) {
    const [row] = await server.query(`SELECT EXISTS (SELECT FROM inbound_activities WHERE outcome IS NULL)
      OR EXISTS (SELECT FROM fanouts) AS waiting`)
    if (row?.["waiting"] !== true) return
    await sleep(20)
  }
}

const outcomes = async ({ server }: Bench) => {
  const rows = await server.query("SELECT outcome, count(*)::int AS count FROM inbound_activities GROUP BY 1")
  return new Map(rows.map((row) => [String(row["outcome"]), Number(row["count"])]))
}

const perCpuSecond = (name: string, target: number, runs: ReadonlyArray<Pick<Measured, "perSecond" | "millis">>) => {
  const middle = median(runs.map(({ millis }) => millis === undefined ? Number.NaN : total(millis)))
  const run = runs.find(({ millis }) => millis !== undefined && total(millis) === middle)
  const figure = 1000 / middle
  return {
    name,
    ...run,
    figures: { "per CPU second": figure },
    target: { text: `${target} a CPU second`, met: figure >= target }
  } satisfies Measured
}

/**
 * Returns `send`, which sends a number of unique activities and waits until they are processed, and `check`, which
 * fails if any had no effect.
 */
const activitySender = async (bench: Bench) => {
  const { people, server } = bench
  const remote = remotes.get(people) ?? await seedRemote(server.query, people)
  remotes.set(people, remote)
  const send = async (count: number) => {
    const requests = remote.activities(server.port, count)
    const before = spent(server.watched)
    const began = performance.now()
    const load = await server.generate({ kind: "requests", port: server.port, connections, requests, count }) as Load
    if (load.statuses["202"] !== count) throw new Error(`Not all were accepted: ${JSON.stringify(load.statuses)}`)
    await drained(bench)
    const millis = between(before, spent(server.watched), count)
    return { perSecond: count * 1000 / (performance.now() - began), millis }
  }
  const check = async () => {
    const counts = await outcomes(bench)
    const done = counts.get("done") ?? 0
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    if (done < all) throw new Error(`Not every activity had an effect: ${JSON.stringify(Object.fromEntries(counts))}`)
  }
  await send(bench.options.quick ? 2_000 : 4_000)
  return { send, check }
}

/**
 * Inbound activities, from the first request to the last effect: signature checks, rows, work of the senders' actors,
 * and fan-outs.
 */
export const inbound: Row = {
  name: "inbound activities accepted and processed",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const { check, send } = await activitySender(bench)
    const runs = []
    for (let run = 0; run < bench.options.runs; run++) runs.push(await send(bench.options.quick ? 2_000 : 5_000))
    await check()
    return [perCpuSecond("inbound activities accepted and processed", inboundTarget, runs)]
  },
  slices: async (bench) => {
    const { check, send } = await activitySender(bench)
    return { next: async () => ({ "CPU ms": total((await send(sliceActivities)).millis) }), end: check }
  }
}

/** Returns a function that requests actor documents for a number of milliseconds. */
const documentRequester = async ({ options, server }: Bench) => {
  const headers = { host: `localhost:${server.port}`, accept: "application/activity+json" }
  const requests = authorNumbers.slice(0, 50)
    .map((number) => ({ method: "GET" as const, path: `/users/person${number}`, headers }))
  const ask = async (during: number) => {
    const before = spent(server.watched)
    const { done, millis } = await server.load({ connections, requests, millis: during })
    return { perSecond: done * 1000 / millis, millis: between(before, spent(server.watched), done) }
  }
  // Sequential: the first request for each actor makes its keys, which is slow on a busy machine.
  await server.load({ connections: 1, requests, count: requests.length })
  await ask(options.quick ? 1_500 : 4_000)
  return ask
}

/** Simultaneous requests of 5,000 servers for a popular post. */
export const document: Row = {
  name: "actor documents from the cache",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const ask = await documentRequester(bench)
    const runs = []
    for (let run = 0; run < bench.options.runs; run++) runs.push(await ask(bench.options.seconds * 1000))
    return [perCpuSecond("actor documents from the cache", documentTarget, runs)]
  },
  slices: async (bench) => {
    const ask = await documentRequester(bench)
    return { next: async () => ({ "CPU ms": total((await ask(sliceMillis)).millis) }) }
  }
}

export const rows: ReadonlyArray<Row> = [document, inbound]
