import { Effect, Request, RequestResolver } from "effect"

/**
 * Batches of requests that Effect keeps for reuse, at most. Each holds the context of the fiber that first needed it for as long
 * as the process lives.
 */
const batchesMax = 128

class Ask extends Request.Class<{ readonly n: number }, void> {}

const resolvers = Array.from({ length: batchesMax }, () => RequestResolver.fromFunction<Ask>(() => {}))

/**
 * Fills Effect's pool with batches that hold nothing, outside of any run. Processes that die in a run give none back, so that each
 * run would create some anew, and the pool would hold all that these runs had in memory.
 */
export const fill = () =>
  Effect.runPromise(
    Effect.forEach(resolvers, (resolver, n) => Effect.request(new Ask({ n }), resolver), {
      concurrency: "unbounded",
      discard: true
    })
  )
