import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Claim, Limits, limits } from "../../../src/http/guard/Limits.ts"
import { Redis } from "../../../src/layers/Redis.ts"
import * as RedisLimits from "../../../src/layers/redis/RedisLimits.ts"
import { jumpingClock } from "../../support/JumpingClock.ts"
import { TestRedis } from "../../support/RedisServer.ts"

const claim: Claim = { limit: "signInEmail", key: `somebody-${process.pid}@example.org` }
const { uses } = limits.signInEmail

/** A node's limits; `away` is a Redis that does not respond. */
const node = (away: boolean) =>
  Effect.gen(function*() {
    const redis = yield* Redis
    const seen = Redis.of({
      ...redis,
      use: away ? () => redis.use(() => Promise.reject(new Error("away"))) : redis.use
    })
    const context = yield* Layer.build(Layer.fresh(RedisLimits.layer.pipe(Layer.provide(Layer.succeed(Redis, seen)))))
    return yield* Effect.provide(Limits, context)
  })

layer(TestRedis, { excludeTestServices: true })("Limits in Redis", (it) => {
  it.effect("row 75: are counted by all nodes together", () =>
    Effect.scoped(Effect.gen(function*() {
      const [a, b] = [yield* node(false), yield* node(false)]
      for (let use = 1; use <= uses; use++) {
        const quota = yield* (use % 2 === 0 ? a : b).spend([claim])
        assert.deepInclude(quota, { limit: uses, remaining: uses - use })
      }
      for (const limits of [a, b]) {
        const refused = yield* Effect.flip(limits.spend([claim]))
        assert.strictEqual(refused._tag, "TooManyRequests")
      }
    })))

  it.effect("F11: counting stops at the first claim that refuses, and keys have a fixed length", () =>
    Effect.scoped(Effect.gen(function*() {
      const redis = yield* Redis
      const door = yield* node(false)
      const address = { limit: "mailAddress", key: `192.0.2.${process.pid}` } as const
      const email = { limit: "mailEmail", key: `${process.pid}${"a".repeat(100_000)}@example.org` } as const
      for (let use = 0; use < limits.mailAddress.uses; use++) yield* door.spend([address])
      for (let use = 0; use < 3; use++) yield* Effect.flip(door.spend([address, email]))
      assert.strictEqual((yield* door.spend([email])).remaining, limits.mailEmail.uses - 1)
      const names = yield* redis.use((client) => client.keys("murmuration:limit:mail*"))
      assert.isAtLeast(names.length, 2)
      for (const name of names) {
        assert.isBelow(name.length, 100)
        assert.isAbove(yield* redis.use((client) => client.pttl(name)), 0)
      }
    })))

  it.effect("row 91 F107: apply on a node whose clock is hours behind that of Redis", () =>
    Effect.scoped(Effect.gen(function*() {
      const behind = yield* node(false)
      const { jump, within } = yield* jumpingClock
      jump(-5 * 3_600_000)
      const mail = { limit: "mailEmail", key: `behind-${process.pid}@example.org` } as const
      const spend = within(behind.spend([mail]))
      for (let use = 1; use <= limits.mailEmail.uses; use++) {
        assert.strictEqual((yield* spend).remaining, limits.mailEmail.uses - use)
      }
      assert.strictEqual((yield* Effect.flip(spend))._tag, "TooManyRequests")
    })))

  it.effect("row 75: apply on each node while Redis is away, so that guessing stays limited", () =>
    Effect.scoped(Effect.gen(function*() {
      const alone = yield* node(true)
      for (let use = 1; use <= uses; use++) yield* alone.spend([claim])
      assert.strictEqual((yield* Effect.flip(alone.spend([claim])))._tag, "TooManyRequests")
    })))
})
