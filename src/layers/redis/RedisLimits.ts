import { Clock, Effect, Layer } from "effect"
import { type Count, countInMemory, Limits } from "../../http/guard/Limits.ts"
import { Redis } from "../Redis.ts"

const prefix = "murmuration:limit:"

/**
 * Counts a use of each key in turn, up to the first that is exhausted. Lifetimes and uses are arguments: Redis' clock
 * may differ, and an expiry in its past would delete each counter at once.
 */
const countScript = `
local counts = {}
for i, key in ipairs(KEYS) do
  counts[i] = redis.call('INCR', key)
  if counts[i] == 1 then redis.call('PEXPIRE', key, ARGV[2 * i - 1]) end
  if counts[i] > tonumber(ARGV[2 * i]) then break end
end
return counts`

/** Rate limits that all nodes share. While Redis is down each node counts alone, so that guessing stays limited. */
export const layer = Layer.effect(
  Limits,
  Effect.gen(function*() {
    const redis = yield* Redis
    const inMemory = countInMemory()
    const inRedis: Count = (periods) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        redis.use(async (client) => {
          const names = periods.map(({ id }) => prefix + id)
          const figures = periods.flatMap(({ expiresAt, uses }) => [Math.max(1, expiresAt - now), uses])
          const counts = await client.eval(countScript, names.length, ...names, ...figures)
          if (!Array.isArray(counts) || !counts.every((count) => typeof count === "number")) {
            throw new Error("no counts")
          }
          return counts
        })).pipe(Effect.catch(() => inMemory(periods)))
    return Limits.make(inRedis)
  })
)
