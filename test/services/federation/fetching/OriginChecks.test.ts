import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { OriginChecks } from "../../../../src/services/federation/fetching/OriginChecks.ts"
import { RemotePosts } from "../../../../src/services/federation/fetching/RemotePosts.ts"
import { Threads } from "../../../../src/services/federation/fetching/Threads.ts"

/** Fetcher of posts that never completes, except for `good.example`. */
const posts = Layer.succeed(
  RemotePosts,
  RemotePosts.of({
    find: () => Effect.never,
    keep: () => Effect.never,
    refresh: () => Effect.never,
    isGone: (uri) => new URL(uri).hostname === "good.example" ? Effect.succeed(true) : Effect.never
  })
)
const threads = Layer.succeed(
  Threads,
  Threads.of({ fetchAround: () => Effect.never, fetchFound: () => Effect.void, read: () => Effect.undefined })
)
const fresh = OriginChecks.layerNoDeps.pipe(Layer.provide([posts, threads]), Layer.fresh)

/** Returns the number of addresses that are requested if the earlier ones never respond. */
const asked = (silent: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const checks = yield* OriginChecks
    let responded = 0
    for (const uri of silent) yield* checks.begin({ kind: "news", uri }, () => Effect.void)
    yield* checks.begin({ kind: "gone", uri: "https://good.example/1" }, () => Effect.sync(() => void responded++))
    yield* Effect.yieldNow
    return responded
  }).pipe(Effect.provide(fresh))

it.effect("row 30: hosts that never respond leave slots for others, whether they are many, or one under many names and ports", () =>
  Effect.gen(function*() {
    const many = (count: number, host: (n: number) => string) =>
      Array.from({ length: count }, (_, n) => `https://${host(n)}/${n}`)
    for (
      const silent of [
        many(5_000, () => "slow.example"),
        many(5_000, (n) => `slow.example:${1_000 + n % 500}`),
        many(5_000, (n) => `${n % 500}.slow.example`),
        many(50_000, (n) => `slow${n % 100}.example`),
        many(50_000, (n) => `slow${n % 1_000}.example`)
      ]
    ) assert.strictEqual(yield* asked(silent), 1, silent[1])
  }))

it.effect("row 30: a conversation that never ends releases its slot", () =>
  Effect.gen(function*() {
    const checks = yield* OriginChecks
    let responded = 0
    const ask = Effect.andThen(
      checks.begin({ kind: "gone", uri: "https://good.example/1" }, () => Effect.sync(() => void responded++)),
      Effect.yieldNow
    )
    for (let n = 0; n < 200; n++) {
      yield* checks.fetchThread({ id: "https://good.example/0", inReplyTo: `https://good.example/${n}` })
    }
    yield* ask
    assert.strictEqual(responded, 0)
    yield* TestClock.adjust("5 minutes")
    yield* ask
    assert.strictEqual(responded, 1)
  }).pipe(Effect.provide(fresh)))
