import { fileURLToPath } from "node:url"
import * as Child from "../Child.ts"
import { between, spent, total } from "../Cpu.ts"
import type * as Inboxes from "../load/Inboxes.ts"
import type * as Signing from "../load/Signing.ts"
import { followersOfSmall, type People, small, token } from "../People.ts"
import { type Bench, type Measured, median, percentile, type Row, sleep } from "../Row.ts"

/** Authors who post to few hosts with many inboxes each, and to many hosts, some of them dead. */
const [toFew, toMany] = [601, 602]
const fewHosts = 8
const manyHosts = 2_000
const inboxesEach = 5
/** One in this many hosts is dead. */
const deadOf = 20
/** Target as a share of the bare process's rate, and minimum rate on any machine, in deliveries per CPU second. */
const partTarget = 0.7
const floorTarget = 1_200
/** Environment of a server that may deliver to loopback hosts. */
export const variables = { OUTBOUND_ALLOW: "127.0.0.0/8" }

const load = (path: string) => fileURLToPath(new URL(`../load/${path}`, import.meta.url))

interface World {
  readonly inboxes: Child.Child<Inboxes.Order>
  readonly urls: Readonly<Record<number, ReadonlyArray<string>>>
}

/** Remote hosts by the people of the server. */
const worlds = new Map<People, World>()

/** Returns the loopback address of a host by its number. */
const address = (base: number, host: number) => `127.${base}.${host >> 8}.${host & 255}`

/** Adds follows by accounts with an inbox each, `each` accounts per host; dead hosts get a port without a server. */
const follow = async (
  { people, server }: Bench,
  target: number,
  base: number,
  hosts: number,
  each: number,
  portOf: (host: number) => number
) => {
  const first = people.accountId(10_000_000 * base)
  const urls = Array.from({ length: hosts * each }, (_, n) => {
    const host = n % hosts
    return `http://${address(base, host)}:${portOf(host)}/users/${n}/inbox`
  })
  const at = new Date().toISOString()
  for (let from = 0; from < urls.length; from += 1_000) {
    const rows = urls.slice(from, from + 1_000).map((url, n) => {
      const { host } = new URL(url)
      return `(${first + BigInt(from + n)}, '${host}', '${url}')`
    }).join()
    await server.query(`WITH given (id, host, inbox) AS (VALUES ${rows}),
      known AS (INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        SELECT id::bigint, 'far' || id, host, inbox || '/..', '${at}', '${at}' FROM given)
      SELECT 1`)
    await server.query(`INSERT INTO remote_actors (account_id, type, inbox_url, fetched_at)
      SELECT v.id::bigint, 'Person', v.inbox, '${at}' FROM (VALUES ${rows}) v (id, host, inbox)`)
  }
  await server.query(`INSERT INTO follows (id, account_id, target_account_id, created_at)
    SELECT a.id, a.id, ${people.accountId(target)}, '${at}' FROM accounts a
    WHERE a.id BETWEEN ${first} AND ${first + BigInt(urls.length)}`)
  return urls
}

const make = async (bench: Bench): Promise<World> => {
  const inboxes = Child.start<Inboxes.Order>([load("Inboxes.ts")])
  const ports = await inboxes.ask({ kind: "ports" }) as Record<"taking" | "silent" | "closed", number>
  const each = bench.options.quick ? 250 : 500
  const few = await follow(bench, toFew, 8, fewHosts, each, () => ports.taking)
  const many = await follow(
    bench,
    toMany,
    9,
    manyHosts,
    inboxesEach,
    // Half of the dead hosts accept connections and never respond; the others have no listener.
    (host) => host % deadOf !== 0 ? ports.taking : host % (2 * deadOf) === 0 ? ports.silent : ports.closed
  )
  await bench.server.query("VACUUM ANALYZE")
  return { inboxes, urls: { [toFew]: few, [toMany]: many } }
}

const worldOf = async (bench: Bench): Promise<World> => {
  const world = worlds.get(bench.people) ?? await make(bench)
  worlds.set(bench.people, world)
  return world
}

let posted = 0
const post = async ({ server }: Bench, number: number) => {
  const reply = await fetch(`http://127.0.0.1:${server.port}/api/v1/statuses`, {
    method: "POST",
    headers: { authorization: `Bearer ${token(number)}`, "content-type": "application/json" },
    body: JSON.stringify({ status: `a post to other servers, number ${posted++}` })
  })
  await reply.text()
  if (reply.status !== 200) throw new Error(`The response to a post is ${reply.status}`)
}

/** Waits until `count` inboxes have the activity. */
const arrived = async ({ inboxes }: World, count: number) => {
  for (;;) {
    const taken = await inboxes.ask({ kind: "taken" }) as Inboxes.Taken
    if (taken.inboxes >= count) return taken
    await sleep(20)
  }
}

/** Measures the minimum cost of a delivery: CPU milliseconds of a process that only signs and sends. */
const bare = async ({ urls }: World, width: number) => {
  const child = Child.start<Signing.Order>([load("Signing.ts")])
  const order = { urls: urls[toFew] ?? [], bytes: 2_000, width }
  await child.ask(order)
  const watched = { node: child.pid, postgres: 0 }
  const before = spent(watched)
  await child.ask(order)
  const cpu = between(before, spent(watched), order.urls.length)
  child.process.kill("SIGKILL")
  return cpu.node
}

const countOf = ({ urls }: World) => urls[toFew]?.length ?? 0

/** Sends one post to the few hosts, and waits until each inbox has it. */
const deliver = async (bench: Bench, world: World) => {
  await world.inboxes.ask({ kind: "reset" })
  const [before, began] = [spent(bench.server.watched), performance.now()]
  await post(bench, toFew)
  await arrived(world, countOf(world))
  const millis = performance.now() - began
  await sleep(200)
  return { millis, cpu: between(before, spent(bench.server.watched), countOf(world)) }
}

export const signed: Row = {
  name: "signed deliveries",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const world = await worldOf(bench)
    const count = countOf(world)
    const bareMillis = await bare(world, 8)
    const once = () => deliver(bench, world)
    await once()
    const runs = []
    for (let run = 0; run < bench.options.runs; run++) runs.push(await once())
    const middle = median(runs.map(({ cpu }) => total(cpu)))
    const { cpu, millis } = runs.find((run) => total(run.cpu) === middle)!
    const [perCpuSecond, bound] = [1_000 / total(cpu), 1_000 / bareMillis]
    return [{
      name: "signed deliveries",
      perSecond: count * 1_000 / millis,
      millis: cpu,
      figures: {
        "per CPU second": perCpuSecond,
        "bare signing and POST per CPU second": bound,
        "part": perCpuSecond / bound
      },
      target: {
        text: `${partTarget * 100}% of the bare cost, ${floorTarget} per CPU second`,
        met: perCpuSecond >= partTarget * bound && perCpuSecond >= floorTarget
      }
    }]
  },
  slices: async (bench) => {
    const world = await worldOf(bench)
    await deliver(bench, world)
    return { next: async () => ({ "CPU ms": total((await deliver(bench, world)).cpu) }) }
  }
}

export const manyInboxes: Row = {
  name: "10,000 inboxes on 2,000 hosts, 5% dead",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const world = await worldOf(bench)
    const { generate, port } = bench.server
    const urls = world.urls[toMany] ?? []
    const healthy = urls.filter((_, n) => (n % manyHosts) % deadOf !== 0).length
    await generate({ kind: "listen", port, tokens: followersOfSmall.map(token) })
    const events = (posts: number) =>
      generate({ kind: "events", port, token: token(small), posts, pause: 20, latencyMax: 30_000 }) as Promise<
        Array<number>
      >
    await events(10)
    const alone = await events(20)
    await world.inboxes.ask({ kind: "reset" })
    const [before, began] = [spent(bench.server.watched), Date.now()]
    await post(bench, toMany)
    const latencies = events(bench.options.quick ? 20 : 100)
    const { lastAt } = await arrived(world, healthy)
    const cpu = between(before, spent(bench.server.watched), healthy)
    const delays = await latencies
    await generate({ kind: "close streams" })
    const taken = await world.inboxes.ask({ kind: "taken" }) as Inboxes.Taken
    return [{
      name: `${urls.length} inboxes on ${manyHosts} hosts, 5% dead`,
      perSecond: healthy * 1_000 / (lastAt - began),
      millis: cpu,
      figures: {
        "all healthy ones after ms": lastAt - began,
        "sent twice": taken.requests - taken.inboxes,
        "small post to event, alone p50 ms": median(alone),
        "during the deliveries, p50 ms": median(delays),
        "during the deliveries, p99 ms": percentile(delays, 0.99)
      }
    }]
  }
}

/** Ends the processes that the rows started. */
export const end = () => {
  for (const { inboxes } of worlds.values()) inboxes.process.kill("SIGKILL")
}
