import type { RunningServer } from "../BenchServer.ts"
import { between, megabytes, type Spent, spent, total } from "../Cpu.ts"
import { followerNumbers, token } from "../People.ts"
import { type Bench, type Measured, type Row, sleep } from "../Row.ts"

const connections = 8

/** Number of accounts that are made resident; the memory figure is scaled to 10,000. */
const residents = ({ options }: Bench) => options.quick ? 2_000 : 10_000
/** Target S13: megabytes per 10,000 resident accounts. */
const memoryTarget = 400

/**
 * Accounts whose commands warm up the server; without warm-up, a first command would cost more than its actor's
 * activation.
 */
const warmUpAccounts = 500
/** Accounts per slice when two servers take turns. */
const sliceAccounts = 200

/** Returns the server's heap after a garbage collection, in bytes, and its resident memory, in megabytes. */
const heap = async ({ server }: Bench) => {
  const memory = await server.child.ask({ kind: "memory" }) as { readonly heapUsed: number; readonly rss: number }
  return { heap: memory.heapUsed, rss: megabytes(server.watched.node) }
}

const difference = (a: Spent, b: Spent): Spent => ({
  node: a.node - b.node,
  postgres: a.postgres - b.postgres,
  redis: a.redis - b.redis
})

const ask = ({ people, server }: Bench, numbers: ReadonlyArray<number>, method: "GET" | "POST", act = "") => {
  const path = `/api/v1/statuses/${people.statusIds.at(-1)}${act}`
  return server.load({
    connections,
    count: numbers.length,
    requests: numbers.map((number) => ({ method, path, token: token(number) }))
  })
}

/** Runs one command for each account. */
const command = async (bench: Bench, numbers: ReadonlyArray<number>) => {
  const before = spent(bench.server.watched)
  const { done, millis } = await ask(bench, numbers, "POST", "/unfavourite")
  return { millis: between(before, spent(bench.server.watched), done), each: millis / done }
}

/** Accounts of each server that no row has used. */
const unusedAccounts = new WeakMap<RunningServer, Array<number>>()

/** Takes unused accounts from the end of the list. */
const take = ({ people, server }: Bench, count: number): ReadonlyArray<number> => {
  const left = unusedAccounts.get(server) ?? followerNumbers(people.accounts - 1_000)
  unusedAccounts.set(server, left)
  if (left.length < count) throw new Error("No account without an actor is left.")
  return left.splice(-count)
}

/**
 * Runs a command of each account twice. Only the first one activates the actor, so the difference is the activation.
 * Tokens and the status are cached before.
 */
const activate = async (bench: Bench, numbers: ReadonlyArray<number>) => {
  await ask(bench, numbers, "GET")
  const first = await command(bench, numbers)
  const second = await command(bench, numbers)
  return {
    perSecond: 1000 / Math.max(0.001, first.each - second.each),
    millis: difference(first.millis, second.millis)
  }
}

export const activation: Row = {
  name: "entity activation",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    await activate(bench, take(bench, warmUpAccounts))
    return [{ name: "entity activation", ...await activate(bench, take(bench, residents(bench))) }]
  },
  slices: async (bench) => {
    await activate(bench, take(bench, warmUpAccounts))
    return { next: async () => ({ "CPU ms": total((await activate(bench, take(bench, sliceAccounts))).millis) }) }
  }
}

/** Memory of accounts with live actors. */
export const memory: Row = {
  name: "memory per 10,000 resident accounts",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const numbers = take(bench, residents(bench))
    await ask(bench, numbers, "GET")
    const empty = await heap(bench)
    await command(bench, numbers)
    const full = await heap(bench)
    const share = 10_000 / numbers.length
    const megabytesMore = (full.heap - empty.heap) / 1024 / 1024 * share
    return [{
      name: "memory per 10,000 resident accounts",
      figures: { "heap MB": megabytesMore, "resident set MB": (full.rss - empty.rss) * share },
      target: { text: `< ${memoryTarget} MB`, met: megabytesMore < memoryTarget }
    }]
  }
}

const idleTarget = 180

/** Memory of the server after its start, before any request. */
export const idle: Row = {
  name: "idle memory",
  measure: async ({ server }): Promise<ReadonlyArray<Measured>> => {
    await sleep(3_000)
    const resident = megabytes(server.watched.node)
    return [{
      name: "idle memory of the server process",
      figures: { "resident set MB": resident },
      target: { text: `< ${idleTarget} MB`, met: resident < idleTarget }
    }]
  }
}
