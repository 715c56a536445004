import { Effect, Layer } from "effect"
import { type Count, countInMemory, Limits } from "../../http/guard/Limits.ts"
import { Redis } from "../Redis.ts"

const prefix = "murmuration:limit:"

/** Limits that all nodes count together. While Redis is away each node counts for itself, so guessing stays limited. */
export const layer = Layer.effect(
  Limits,
  Effect.gen(function*() {
    const redis = yield* Redis
    const alone = countInMemory()
    const together: Count = (keys) =>
      redis.use(async (client) => {
        const pipeline = client.pipeline()
        for (const { expiresAt, id } of keys) pipeline.incr(prefix + id).pexpireat(prefix + id, expiresAt)
        const replies = await pipeline.exec() ?? []
        return keys.map((_, index) => {
          const [error, count] = replies[index * 2] ?? []
          if (error || typeof count !== "number") throw error ?? new Error("no count")
          return count
        })
      }).pipe(Effect.catch(() => alone(keys)))
    return Limits.make(together)
  })
)
