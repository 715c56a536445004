import { NodeCrypto } from "@effect/platform-node"
import { assert, it, layer } from "@effect/vitest"
import * as bcrypt from "bcryptjs"
import { Context, Effect, Fiber, Latch, Layer, Redacted } from "effect"
import * as PasswordHashing from "../../src/layers/PasswordHashing.ts"
import { Credentials, passwordBytesMax, passwordsWaitingMax } from "../../src/services/identity/Credentials.ts"

const secret = Redacted.make("pässword of somebody")

layer(PasswordHashing.layer.pipe(Layer.provide(NodeCrypto.layer)))("argon2id", (it) => {
  it.effect("verifies its own hashes, in any Unicode form of the password, and nothing else", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const hash = yield* credentials.hash(secret)
      assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
      assert.notStrictEqual(hash, yield* credentials.hash(secret))
      const verify = (password: string, stored: string | undefined) =>
        credentials.verify(Redacted.make(password), stored)
      assert.isTrue(yield* verify("pässword of somebody", hash))
      assert.isTrue(yield* verify("pa\u0308ssword of somebody", hash))
      assert.isFalse(yield* verify("password of somebody", hash))
      assert.isFalse(yield* verify("pässword of somebody", undefined))
      assert.isFalse(yield* verify("", ""))
      assert.isFalse(yield* verify("pässword of somebody", hash.replace("t=2", "t=3")))
    }))

  it.effect("knows hashes with other parameters (RFC 9106's test of the reference implementation)", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
      assert.isTrue(yield* credentials.verify(Redacted.make("password"), stored))
      assert.isFalse(yield* credentials.verify(Redacted.make("passwort"), stored))
    }))

  it.effect("verifies bcrypt hashes of the bytes as typed, of which the first 72 count", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const cheap = 4 as const
      const verify = (password: string, stored: string) => credentials.verify(Redacted.make(password), stored)
      const stored = bcrypt.hashSync("pa\u0308ssword of somebody", cheap)
      assert.isTrue(credentials.isForeign(stored))
      assert.isTrue(yield* verify("pa\u0308ssword of somebody", stored))
      assert.isFalse(yield* verify("p\u00e4ssword of somebody", stored), "not in another Unicode form")
      assert.isFalse(yield* verify("password of somebody", stored))
      // Mastodon allows 72 characters, of which bcrypt reads 72 bytes; a character may be cut in half.
      const long = bcrypt.hashSync("ö".repeat(35) + "xö" + "ä".repeat(10), cheap)
      assert.isTrue(yield* verify("ö".repeat(35) + "xö" + "ä".repeat(10), long))
      assert.isTrue(yield* verify(`${"ö".repeat(35)}xösomebody`, long))
      assert.isFalse(yield* verify("ö".repeat(35) + "yö", long))
      assert.isFalse(yield* verify("a".repeat(1_000_000), bcrypt.hashSync("a".repeat(72), cheap)))
    }))

  it.effect("verifies hashes that libxcrypt made, also of a character that the 72nd byte cuts", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const salted = "05$abcdefghijklmnopqrstuu"
      for (
        const [password, stored] of [
          ["pa\u0308ssword of somebody", `$2b$${salted}R.iz3YVzqaieUJl32Zk8TFzyECHBhb6`],
          [`${"ö".repeat(35)}xö${"ä".repeat(10)}`, `$2a$${salted}Mqi060GaTrinY.EbqkMhCOvjRFUj74W`],
          [`${"🐦".repeat(18)}tail`, `$2b$${salted}0It/CHO/Ei7GQ9uHayHydssOxz9ooXG`],
          [`${"a".repeat(71)}🐦`, `$2y$${salted}e8HJRRM7gpzketwavZ8ToRD1AHcKRbO`]
        ] as const
      ) {
        assert.isTrue(yield* credentials.verify(Redacted.make(password), stored), stored)
        assert.isFalse(yield* credentials.verify(Redacted.make(`x${password}`), stored), stored)
      }
    }))

  it.effect("F258: the event loop continues while a bcrypt hash is verified", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const stored = `$2b$12${"$abcdefghijklmnopqrstuuR.iz3YVzqaieUJl32Zk8TFzyECHBhb6"}`
      const fiber = yield* Effect.forkChild(credentials.verify(Redacted.make("wrong"), stored))
      const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
      let turns = 0
      while (fiber.pollUnsafe() === undefined) {
        yield* turn
        turns++
      }
      assert.isFalse(yield* Fiber.join(fiber))
      assert.isAbove(turns, 200, "a hash in slices of 100 ms would leave some ten")
    }))

  it.effect("never spends the time of a bcrypt hash with a high cost, nor reads a malformed one", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const stored = bcrypt.hashSync("secret of somebody", 4)
      for (
        const hash of [
          stored.replace("$04$", "$31$"),
          stored.replace("$04$", "$15$"),
          stored.replace("$04$", "$4$"),
          stored.replace("$04$", "$03$"),
          stored.replace("$04$", "$00$"),
          stored.replace("$2b$", "$2x$"),
          stored.slice(0, -1),
          `${stored}.`,
          `${stored}\n`,
          ""
        ]
      ) assert.isFalse(yield* credentials.verify(Redacted.make("secret of somebody"), hash), hash)
      assert.isTrue(yield* credentials.verify(Redacted.make("secret of somebody"), stored.replace("$2b$", "$2y$")))
      assert.isFalse(credentials.isForeign(yield* credentials.hash(secret)))
    }))

  it.effect("F11: a password of a megabyte never matches, and is not held while others are hashed", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const long = "a".repeat(1_000_000)
      const hash = yield* credentials.hash(Redacted.make(long.slice(0, passwordBytesMax)))
      assert.isFalse(yield* credentials.verify(Redacted.make(long), hash))
      const before = process.memoryUsage().arrayBuffers
      const verifying = Array.from(
        { length: passwordsWaitingMax },
        () => Effect.exit(credentials.verify(Redacted.make(long), hash))
      )
      const fiber = yield* Effect.forkChild(Effect.all(verifying, { concurrency: "unbounded" }))
      yield* Effect.yieldNow
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 8_000_000)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("row 75: excess requests are asked to retry, and earlier requests are served", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const flood = Array.from({ length: passwordsWaitingMax + 8 }, () => Effect.exit(credentials.hash(secret)))
      const results = yield* Effect.all(flood, { concurrency: "unbounded" })
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Failure").length, 8)
      assert.isString(yield* credentials.hash(secret))
    }))
})

/** Stored hash of the password "pa\u0308ssword of somebody". */
const foreign = `$2b$05${"$abcdefghijklmnopqrstuuR.iz3YVzqaieUJl32Zk8TFzyECHBhb6"}`

/** Builds credentials with cheap argon2id and a bcrypt that records each password, and refuses it when `gate` opens. */
const gated = (gate: Effect.Effect<void>, compared: Array<string>) =>
  Layer.build(
    PasswordHashing.layerWith(
      { memory: 32, passes: 1, parallelism: 1 },
      Effect.succeed((password) =>
        Effect.suspend(() => {
          compared.push(password)
          return Effect.as(gate, false)
        })
      )
    ).pipe(Layer.provide(NodeCrypto.layer))
  ).pipe(Effect.map(Context.get(Credentials)))

it.effect("F258: each refusal computes a bcrypt hash if some accounts have one", () =>
  Effect.gen(function*() {
    const compared: Array<string> = []
    const credentials = yield* gated(Effect.void, compared)
    const own = yield* credentials.hash(secret)
    const refuse = (password: string, stored: string | undefined) =>
      Effect.map(credentials.verify(Redacted.make(password), stored), (matches) => assert.isFalse(matches))
    yield* refuse("before", undefined)
    assert.deepStrictEqual(compared, [], "on a server without bcrypt hashes")
    yield* refuse("foreign", foreign)
    yield* refuse("unknown", undefined)
    yield* refuse("own", own)
    assert.deepStrictEqual(compared, ["foreign", "unknown", "own"])
  }))

it.effect("F258: a client that leaves does not free its slot while the thread still computes its hash", () =>
  Effect.gen(function*() {
    const gate = yield* Latch.make()
    const compared: Array<string> = []
    const credentials = yield* gated(gate.await, compared)
    const verifying = (password: string) =>
      Effect.forkChild(credentials.verify(Redacted.make(password), foreign), { startImmediately: true })
    const leaving = yield* Effect.forEach(["one", "two", "three"], verifying)
    const left = yield* Effect.forkChild(Fiber.interruptAll(leaving), { startImmediately: true })
    const next = yield* verifying("next")
    yield* Effect.yieldNow
    assert.deepStrictEqual(compared, ["one", "two"], "two at once; the third one left the queue")
    yield* gate.open
    yield* Fiber.join(left)
    assert.isFalse(yield* Fiber.join(next))
    assert.deepStrictEqual(compared, ["one", "two", "next"])
  }))

layer(PasswordHashing.layerSimulation.pipe(Layer.provide(NodeCrypto.layer)))("in a simulation", (it) => {
  it.effect("distinguishes passwords", () =>
    Effect.gen(function*() {
      const credentials = yield* Credentials
      const hash = yield* credentials.hash(secret)
      assert.isTrue(yield* credentials.verify(secret, hash))
      assert.isFalse(yield* credentials.verify(Redacted.make("x"), hash))
      assert.isFalse(yield* credentials.verify(secret, undefined))
    }))
})
