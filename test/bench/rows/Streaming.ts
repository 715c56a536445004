import { between, spent, total } from "../Cpu.ts"
import { followerNumbers, listeners, streamer, token } from "../People.ts"
import { type Bench, type Measured, median, percentile, type Row } from "../Row.ts"

const latencyMax = 5_000

/** Posts per slice when two servers take turns. */
const slicePosts = 4

/**
 * Connects all listeners; returns a function that publishes posts and returns the latency per socket, in milliseconds.
 */
const listen = async ({ server: { generate, port } }: Bench) => {
  await generate({ kind: "listen", port, tokens: followerNumbers(listeners).map(token) })
  const run = (posts: number) =>
    generate({ kind: "events", port, token: token(streamer), posts, pause: 100, latencyMax }) as Promise<Array<number>>
  await run(10)
  return { run, end: () => generate({ kind: "close streams" }) }
}

/** Latency of a post to the sockets of 1,000 followers, each on its own `user` stream. */
export const events: Row = {
  name: "post to WebSocket event, 1,000 sockets",
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const { end, run } = await listen(bench)
    const delays = await run(bench.options.quick ? 20 : 60)
    await end()
    const [p50, p99] = [median(delays), percentile(delays, 0.99)]
    return [{
      name: "post to WebSocket event, 1,000 sockets",
      figures: { "p50 ms": p50, "p99 ms": p99 },
      target: { text: "p50 < 10 ms, p99 < 30 ms", met: p50 < 10 && p99 < 30 }
    }]
  },
  slices: async (bench) => {
    const { end, run } = await listen(bench)
    return {
      next: async () => {
        const before = spent(bench.server.watched)
        const delays = await run(slicePosts)
        const cpu = total(between(before, spent(bench.server.watched), slicePosts))
        return { "CPU ms a post": cpu, "p50 ms": median(delays) }
      },
      end: async () => void await end()
    }
  }
}
