import { between, spent, total } from "../Cpu.ts"
import { followersOfSmall, large, type Size, small, token } from "../People.ts"
import { type Bench, type Measured, median, percentile, type Row, settled } from "../Row.ts"

/** Target: feed entries per CPU second of all processes together. */
const entriesTarget = 30_000
/** Maximum latency of a small account's event, in milliseconds; a later one counts with this value. */
const latencyMax = 10_000

let posted = 0
const post = async ({ server }: Bench, number: number) => {
  const reply = await fetch(`http://127.0.0.1:${server.port}/api/v1/statuses`, {
    method: "POST",
    headers: { authorization: `Bearer ${token(number)}`, "content-type": "application/json" },
    body: JSON.stringify({ status: `a post to many followers, number ${posted++}` })
  })
  await reply.text()
  if (reply.status !== 200) throw new Error(`The response to a post is ${reply.status}`)
}

/** Posts that are measured together, because the kernel counts CPU time in hundredths of a second. */
const postsOf: Record<Size, number> = { 1000: 20, 10000: 4, 100000: 1 }

/**
 * Publishes posts to `size` followers one after another, and times each until the last home feed has it; returns
 * figures per post.
 */
const publishToFollowers = async (bench: Bench, size: Size) => {
  const { server } = bench
  await settled(server)
  const before = spent(server.watched)
  const took: Array<number> = []
  for (let n = 0; n < postsOf[size]; n++) {
    const began = performance.now()
    await post(bench, large[size])
    await settled(server, 10)
    took.push(performance.now() - began)
  }
  return { millis: median(took), cpu: between(before, spent(server.watched), postsOf[size]) }
}

/**
 * Measures the latency of a small account's posts on its followers' streams, alone and while a large account keeps
 * posting.
 */
const latencyDuringLargePost = async (bench: Bench, size: Size) => {
  const { generate, port } = bench.server
  await generate({ kind: "listen", port, tokens: followersOfSmall.map(token) })
  const events = (posts: number) =>
    generate({ kind: "events", port, token: token(small), posts, pause: 20, latencyMax }) as Promise<Array<number>>
  await events(10)
  const alone = await events(20)
  const state = { over: false }
  const busy = events(bench.options.quick ? 15 : 30).finally(() => state.over = true)
  while (!state.over) {
    await post(bench, large[size])
    await settled(bench.server)
  }
  const delays = await busy
  await generate({ kind: "close streams" })
  return { alone: median(alone), p50: median(delays), p99: percentile(delays, 0.99) }
}

/** One post to many local followers: feeds, streams and the cursor of each slice. */
export const fanout = (size: Size): Row => ({
  name: `fan-out to ${size}`,
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    await publishToFollowers(bench, size)
    const runs = []
    for (let run = 0; run < bench.options.runs; run++) runs.push(await publishToFollowers(bench, size))
    const middle = median(runs.map(({ cpu }) => total(cpu)))
    const { cpu } = runs.find((run) => total(run.cpu) === middle)!
    const millis = median(runs.map((run) => run.millis))
    const perCpuSecond = size * 1000 / total(cpu)
    const delays = await latencyDuringLargePost(bench, size)
    return [{
      name: `fan-out to ${size}`,
      perSecond: size * 1000 / millis,
      millis: cpu,
      figures: {
        "entries per CPU second": perCpuSecond,
        "last home after ms": millis,
        "small post to event, p50 ms": delays.alone,
        "during the large post, p50 ms": delays.p50,
        "during the large post, p99 ms": delays.p99
      },
      target: {
        text: `30,000 entries per CPU second${size === 10_000 ? ", homes in 1 s" : ""}`,
        met: perCpuSecond >= entriesTarget && (size !== 10_000 || millis <= 1_000)
      }
    }]
  },
  slices: async (bench) => {
    await publishToFollowers(bench, size)
    return {
      next: async () => {
        const { cpu, millis } = await publishToFollowers(bench, size)
        return { "CPU ms": total(cpu), "last home after ms": millis }
      }
    }
  }
})
