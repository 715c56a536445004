import { Effect, Request, RequestResolver } from "effect"

/**
 * Maximum batches of requests that Effect keeps for reuse. Each retains the context of the fiber that first used it for
 * the lifetime of the process.
 */
const batchesMax = 128

class Ask extends Request.Class<{ readonly n: number }, void> {}

const resolvers = Array.from({ length: batchesMax }, () => RequestResolver.fromFunction<Ask>(() => {}))

/**
 * Fills Effect's pool with empty batches, outside of any run. Processes that die in a run return no batches, so each
 * run would create new ones, and the pool would retain the memory of those runs.
 */
export const fill = () =>
  Effect.runPromise(
    Effect.forEach(resolvers, (resolver, n) => Effect.request(new Ask({ n }), resolver), {
      concurrency: "unbounded",
      discard: true
    })
  )
