import { followerNumbers, listeners, streamer, token } from "../People.ts"
import { type Measured, median, percentile, type Row } from "../Row.ts"

const patience = 5_000

/** A post to the sockets of 1,000 followers, each on its own `user` stream. */
export const events: Row = {
  name: "post to WebSocket event, 1,000 sockets",
  measure: async ({ options, stand: { generate, port } }): Promise<ReadonlyArray<Measured>> => {
    await generate({ kind: "listen", port, tokens: followerNumbers(listeners).map(token) })
    const run = (posts: number) =>
      generate({ kind: "events", port, token: token(streamer), posts, pause: 100, patience }) as Promise<Array<number>>
    await run(10)
    const delays = await run(options.quick ? 20 : 60)
    await generate({ kind: "deafen" })
    const [p50, p99] = [median(delays), percentile(delays, 0.99)]
    return [{
      name: "post to WebSocket event, 1,000 sockets",
      figures: { "p50 ms": p50, "p99 ms": p99 },
      target: { text: "p50 < 10 ms, p99 < 30 ms", met: p50 < 10 && p99 < 30 }
    }]
  }
}
