import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Redacted, Ref } from "effect"
import * as Binaries from "../../src/layers/embedded/Binaries.ts"
import * as DataFolder from "../../src/layers/embedded/DataFolder.ts"
import * as Postmaster from "../../src/layers/embedded/Postmaster.ts"
import * as RunAs from "../../src/layers/embedded/RunAs.ts"
import { freePort } from "../support/ports.ts"
import { whileFrozen } from "./Freezing.ts"

const password = "only for this test"

/** Starts an empty Postgres for one test, without automatic restarts. It ends with the scope. */
export const startPostgres = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-faults-" })
  yield* fs.chmod(dataDir, 0o755)
  const folder = yield* DataFolder.of(dataDir)
  const binaries = yield* Binaries.find
  const runAs = yield* RunAs.choose(binaries, folder, dataDir)
  yield* DataFolder.initialise(folder, binaries, runAs, Redacted.make(password))
  const port = yield* freePort
  const start = Postmaster.start(folder, binaries, runAs, { port }, { durable: false }).pipe(
    Effect.provide(NodeServices.layer)
  )
  const running = yield* Effect.acquireRelease(
    Effect.flatMap(start, Ref.make),
    (running) => Effect.flatMap(Ref.get(running), Postmaster.stop)
  )
  const { username } = DataFolder
  return {
    url: `postgres://${username}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    /** Id of the main process, the parent of all others. */
    pid: () => Ref.getUnsafe(running).pid,
    /** Runs `work` while Postgres is shut down; completes when it accepts connections again. */
    whileStopped: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        Effect.flatMap(Ref.get(running), Postmaster.stop),
        () => work,
        () => Effect.orDie(Effect.flatMap(start, (again) => Ref.set(running, again)))
      ),
    /** Runs `work` while all processes of Postgres are stopped; its connections stay open. */
    whileFrozen: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Ref.get(running), ({ pid }) => whileFrozen(pid, work))
  }
}).pipe(Effect.provide([NodeServices.layer, NodeCrypto.layer]))
