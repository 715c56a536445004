import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { createServer } from "node:net"
import { cli } from "../support/CommandLine.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = TestDatabase.layerEmpty.pipe(Layer.provideMerge(NodeServices.layer))

/** Maximum time until the server reports a wrong setting, in milliseconds. */
const toldMillisMax = 5_000

/** Starts the server with a wrong setting; returns its output and the names in its data folder. */
const refused = (variables: Record<string, string>) =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const parent = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-start-" })
    const dataDir = `${parent}/data`
    const { ended } = yield* Program.start("main", [], { DATA_DIR: dataDir, PORT: "0", ...variables })
    const { code, err, out } = yield* ended
    assert.strictEqual(code, 1, out + err)
    return { words: out + err, createdFiles: yield* Effect.orElseSucceed(fs.readDirectory(dataDir), () => []) }
  }))

const occupied = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
  })
})

layer(Live, { excludeTestServices: true })("the start of the server", (it) => {
  it.effect("F232: names an occupied port before it creates the embedded database", () =>
    Effect.gen(function*() {
      const port = yield* occupied
      const { createdFiles, words } = yield* refused({ PORT: String(port), PUBLC_URL: "https://example.org" })
      assert.include(words, `Cannot listen on 127.0.0.1:${port} (HOST, PORT)`)
      assert.include(words, "PUBLC_URL is not a setting of this server; did you mean PUBLIC_URL?")
      assert.notInclude(words, "https://example.org")
      assert.deepStrictEqual(createdFiles, [])
    }))

  it.effect(
    "F232: names all problems at once: a foreign address and a Redis that does not respond",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const { createdFiles, words } = yield* refused({
          HOST: "192.0.2.1",
          PORT: "3999",
          REDIS_URL: `redis://127.0.0.1:${port}`
        })
        assert.include(words, "Cannot listen on 192.0.2.1:3999 (HOST, PORT)")
        assert.include(words, "Redis (REDIS_URL) cannot be used")
        assert.deepStrictEqual(createdFiles, [])
      })
  )

  it.effect(
    "F232: says within five seconds what is wrong with DATABASE_URL: port, database, password",
    () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const port = yield* freePort
        const wrong = [
          [
            `postgres://nobody:none@127.0.0.1:${port}/none`,
            "Start Postgres, or correct host and port in DATABASE_URL."
          ],
          [url.replace(/\/[^/?]+\?/, "/nowhere?"), "Create the database, or correct its name in DATABASE_URL."],
          [url.replace(/:[^:@]+@/, ":wrong@"), "Correct user and password in DATABASE_URL."]
        ] as const
        for (const [databaseUrl, advice] of wrong) {
          const before = performance.now()
          const { code, err } = yield* cli(["migrate"], { DATABASE_URL: databaseUrl })
          assert.isBelow(performance.now() - before, allowedMillis(toldMillisMax))
          assert.include([1, 3], code)
          assert.include(err, advice)
          assert.notMatch(err, /\n\s+at /)
        }
      })
  )

  it.effect(
    "F230: an empty DATABASE_URL next to an embedded database with accounts is refused; without accounts it is used",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const fs = yield* FileSystem.FileSystem
        const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-forgotten-" })
        const create = (name: string, more: Record<string, string>) =>
          cli(["account", "create", name, "--email", `${name}@example.org`, "--confirmed"], {
            DATA_DIR: dataDir,
            ...more
          })
        assert.strictEqual((yield* create("ada", {})).code, 0)
        const { code, err } = yield* create("eve", { DATABASE_URL: url })
        assert.strictEqual(code, 1)
        assert.include(err, "The database of DATABASE_URL has no accounts, but the embedded one in")
        assert.strictEqual((yield* cli(["migrate"], { DATA_DIR: dataDir, DATABASE_URL: url })).code, 1)
        yield* fs.rename(`${dataDir}/postgres`, `${dataDir}/postgres.old`)
        assert.strictEqual((yield* create("eve", { DATABASE_URL: url })).code, 0)
        yield* fs.rename(`${dataDir}/postgres.old`, `${dataDir}/postgres`)
        assert.strictEqual((yield* create("joan", { DATABASE_URL: url })).code, 0)
      }))
  )
})
