import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { Limits, limits } from "../../../src/http/guard/Limits.ts"
import { Redis } from "../../../src/layers/Redis.ts"
import * as RedisLimits from "../../../src/layers/redis/RedisLimits.ts"
import { TestRedis } from "../../support/RedisServer.ts"

/** A node's limits over a Redis that can be told to be away; `calls` counts what it was asked. */
const node = Effect.gen(function*() {
  const redis = yield* Redis
  const state = { away: false, calls: 0 }
  const fragile = Redis.of({
    ...redis,
    use: (f) => {
      state.calls++
      return state.away ? redis.use(() => Promise.reject(new Error("away"))) : redis.use(f)
    }
  })
  const context = yield* Layer.build(Layer.fresh(RedisLimits.layer).pipe(Layer.provide(Layer.succeed(Redis, fragile))))
  return { state, spend: Context.get(context, Limits).spend }
})

let names = 0
/** Somebody who has not used any limit. */
const somebody = () => `${process.pid}-${++names}`

/** Uses that are let through out of `tries`. */
const through = (spend: Limits["Service"]["spend"], key: string, tries: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: tries }), () => Effect.result(spend([{ limit: "signInEmail", key }]))),
    (results) => results.filter(Result.isSuccess).length
  )

layer(Layer.orDie(TestRedis), { excludeTestServices: true })("Limits in Redis", (it) => {
  it.effect("row 75: are counted by all nodes together, in one round trip however many limits", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* node, yield* node]
      const [user, token] = [somebody(), somebody()]
      const claims = [{ limit: "apiUser", key: user }, { limit: "apiToken", key: token }] as const
      assert.strictEqual((yield* one.spend(claims)).remaining, limits.apiToken.uses - 1)
      assert.strictEqual((yield* other.spend(claims)).remaining, limits.apiToken.uses - 2)
      assert.deepStrictEqual([one.state.calls, other.state.calls], [1, 1])
      const email = somebody()
      const allowed = yield* Effect.all([through(one.spend, email, 20), through(other.spend, email, 20)], {
        concurrency: 2
      })
      assert.strictEqual(allowed[0] + allowed[1], limits.signInEmail.uses)
    }).pipe(Effect.scoped))

  it.effect("row 75: still stop guesses while Redis is away, on each node", () =>
    Effect.gen(function*() {
      const { spend, state } = yield* node
      const email = somebody()
      state.away = true
      assert.strictEqual(yield* through(spend, email, 40), limits.signInEmail.uses)
      state.away = false
      assert.strictEqual(yield* through(spend, email, 40), limits.signInEmail.uses)
    }).pipe(Effect.scoped))

  it.effect("forget a period when it is over", () =>
    Effect.gen(function*() {
      const { spend } = yield* node
      const redis = yield* Redis
      const email = somebody()
      const { resetAt } = yield* spend([{ limit: "signInEmail", key: email }])
      const [key] = yield* redis.use((client) => client.keys(`murmuration:limit:signInEmail:${email}:*`))
      assert.strictEqual(yield* redis.use((client) => client.pexpiretime(key!)), resetAt)
    }).pipe(Effect.scoped))
})
