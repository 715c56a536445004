import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Option } from "effect"
import * as Postmaster from "../src/layers/embedded/Postmaster.ts"
import { freePort, mutePort } from "./support/ports.ts"
import { runs } from "./support/Processes.ts"
import { printed, start } from "./support/Program.ts"

const dataDir = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-main-" })
  yield* fs.chmod(folder, 0o755)
  return folder
})

const status = (port: number, path: string) =>
  Effect.promise(() => fetch(`http://localhost:${port}${path}`).then((response) => response.status))

/** A data folder that is empty for the first, and for those after it what a server left that was stopped. */
class Data extends Context.Service<Data, string>()("murmuration/test/main/Data") {
  static readonly layer = Layer.effect(Data, dataDir).pipe(Layer.provideMerge(NodeServices.layer))
}

layer(Data.layer, { excludeTestServices: true })("npm start", (it) => {
  it.effect("F99, without configuration: migrates, answers, prints its address and the next steps, and stops without a trace", () =>
    Effect.scoped(Effect.gen(function*() {
      const port = yield* freePort
      const folder = yield* Data
      const server = yield* start("main", [], { PORT: String(port), DATA_DIR: folder })
      yield* printed(server, "npm run cli -- account create")
      assert.include(server.out(), `Murmuration is at http://localhost:${port}`)
      assert.include(server.out(), "runs unfederated, because PUBLIC_URL is not https")
      assert.strictEqual(yield* status(port, "/metrics"), 200)
      const postgres = Option.getOrThrow(yield* Postmaster.find(`${folder}/postgres`))

      const second = yield* start("main", [], { PORT: String(yield* freePort), DATA_DIR: folder })
      const { code, err } = yield* second.ended
      assert.strictEqual(code, 1)
      assert.match(err, /^Another server uses this database\./)
      assert.strictEqual(yield* status(port, "/metrics"), 200)

      server.child.kill("SIGTERM")
      const last = yield* server.ended
      assert.strictEqual(last.code, 0)
      assert.notMatch(last.out + last.err, /WARN|ERROR|EPIPE|on schedule/)
      assert.throws(() => process.kill(postgres.pid, 0))
    })))

  it.effect("after kill -9 finds the Postgres that was left behind, and takes it over", () =>
    Effect.scoped(Effect.gen(function*() {
      const port = yield* freePort
      const variables = { PORT: String(port), DATA_DIR: yield* Data }
      const first = yield* start("main", [], variables)
      yield* printed(first, "npm run cli")
      const left = Option.getOrThrow(yield* Postmaster.find(`${variables.DATA_DIR}/postgres`))
      first.child.kill("SIGKILL")
      yield* first.ended
      const second = yield* start("main", [], variables)
      yield* printed(second, "npm run cli")
      const found = Option.getOrThrow(yield* Postmaster.find(`${variables.DATA_DIR}/postgres`))
      assert.strictEqual(found.pid, left.pid)
      second.child.kill("SIGINT")
      assert.strictEqual((yield* second.ended).code, 0)
      assert.isFalse(runs(left.pid))
    })))

  it.effect("with a wrong configuration says all that is wrong, without a stack, before anything starts", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* dataDir}/data`
      const variables = { PORT: "70000", REGISTRATIONS: "perhaps", CLUSTER_HOST: "0.0.0.0", DATA_DIR: folder }
      const { code, err, out } = yield* Effect.flatMap(start("main", [], variables), ({ ended }) => ended)
      assert.strictEqual(code, 1)
      assert.strictEqual(out, "")
      assert.match(err, /PORT: [^]*REGISTRATIONS: [^]*DATABASE_URL: [^]*REDIS_URL: [^]*CLUSTER_HOST: /)
      assert.notMatch(err, /\n\s+at /)
      assert.isFalse(yield* fs.exists(folder))
    })))

  it.effect(
    "F282: with LOG_FORMAT=json prints an object a line: no warning on a first run, no stack while Postgres is away",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const port = yield* freePort
        const folder = yield* dataDir
        const server = yield* start("main", [], { PORT: String(port), DATA_DIR: folder, LOG_FORMAT: "json" })
        const records = (): ReadonlyArray<{ level: string; message: string; errors?: ReadonlyArray<object> }> =>
          server.out().trimEnd().split("\n").map((line) => JSON.parse(line))
        yield* printed(server, "Create the owner's account")
        assert.deepStrictEqual(records().filter(({ level }) => level !== "INFO"), [])
        const postgres = Option.getOrThrow(yield* Postmaster.find(`${folder}/postgres`))
        process.kill(postgres.pid, "SIGKILL")
        // Requests may fail until Postgres runs again.
        yield* Effect.raceFirst(
          Effect.forever(Effect.ignore(status(port, "/api/v2/instance"))),
          printed(server, "Postgres is running again")
        )
        server.child.kill("SIGTERM")
        yield* server.ended
        assert.isTrue(
          records().some(({ level, message }) => level === "ERROR" && message.startsWith("Postgres exited"))
        )
        assert.deepStrictEqual(records().flatMap(({ errors = [] }) => errors).filter((error) => "stack" in error), [])
      }))
  )

  it.effect("on a port that is taken says so, and leaves no Postgres behind", () =>
    Effect.scoped(Effect.gen(function*() {
      const { port } = yield* mutePort
      const folder = yield* Data
      const server = yield* start("main", [], { PORT: String(port), DATA_DIR: folder })
      const { code, err } = yield* server.ended
      assert.strictEqual(code, 1)
      assert.match(err, new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port} \\(HOST, PORT\\)`))
      assert.isTrue(Option.isNone(yield* Postmaster.find(`${folder}/postgres`)))
    })))
})
