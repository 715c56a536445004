import { between, megabytes, type Spent, spent } from "../Cpu.ts"
import { followerNumbers, token } from "../People.ts"
import { type Bench, type Measured, type Row, sleep } from "../Row.ts"

const connections = 8

/** Accounts that are made resident; the figure for memory is given for 10,000. */
const residents = ({ options }: Bench) => options.quick ? 2_000 : 10_000
/** S13 of the scale's anchors: megabytes per 10,000 resident accounts. */
const memoryTarget = 400

/** The heap of the server in bytes, after a collection. */
const heap = async ({ stand }: Bench) => {
  const memory = await stand.server.ask({ kind: "memory" }) as { readonly heapUsed: number; readonly rss: number }
  return { heap: memory.heapUsed, rss: megabytes(stand.watched.node) }
}

const less = (a: Spent, b: Spent): Spent => ({
  node: a.node - b.node,
  postgres: a.postgres - b.postgres,
  redis: a.redis - b.redis
})

/**
 * A command of each account, twice: the first finds nobody home, so what it takes more is the activation. Tokens and the
 * status are in their caches before.
 */
export const activation: Row = {
  name: "entity activation",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const { people, stand } = bench
    const count = residents(bench)
    // From the end, where nobody has done anything in the rows before.
    const numbers = followerNumbers(people.accounts - 1_000).slice(-count)
    const status = people.statusIds.at(-1)
    const ask = (method: "GET" | "POST", path: string) =>
      stand.load({ connections, count, requests: numbers.map((number) => ({ method, path, token: token(number) })) })
    await ask("GET", `/api/v1/statuses/${status}`)
    const empty = await heap(bench)
    const command = async () => {
      const before = spent(stand.watched)
      const { done, millis } = await ask("POST", `/api/v1/statuses/${status}/unfavourite`)
      return { millis: between(before, spent(stand.watched), done), each: millis / done }
    }
    const first = await command()
    const full = await heap(bench)
    const second = await command()
    const share = 10_000 / count
    const megabytesMore = (full.heap - empty.heap) / 1024 / 1024 * share
    return [
      {
        name: "entity activation",
        perSecond: 1000 / Math.max(0.001, first.each - second.each),
        millis: less(first.millis, second.millis)
      },
      {
        name: "memory per 10,000 resident accounts",
        figures: { "heap MB": megabytesMore, "resident set MB": (full.rss - empty.rss) * share },
        target: { text: `< ${memoryTarget} MB`, met: megabytesMore < memoryTarget }
      }
    ]
  }
}

const idleTarget = 180

/** What the server takes after its start, before anybody asks for anything. */
export const idle: Row = {
  name: "idle memory",
  measure: async ({ stand }): Promise<ReadonlyArray<Measured>> => {
    await sleep(3_000)
    const resident = megabytes(stand.watched.node)
    return [{
      name: "idle memory of the server process",
      figures: { "resident set MB": resident },
      target: { text: `< ${idleTarget} MB`, met: resident < idleTarget }
    }]
  }
}
