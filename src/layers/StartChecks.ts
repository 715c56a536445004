import { Effect, FileSystem, Layer } from "effect"
import { createServer } from "node:net"
import { traced } from "../services/runtime/Traced.ts"
import { Environment } from "./Environment.ts"
import { Handover } from "./Handover.ts"
import { OperatorError } from "./OperatorError.ts"
import { Redis } from "./Redis.ts"

/** Returns why nothing can listen on this port; undefined if it is free. */
const portProblem = (host: string, port: number) =>
  Effect.callback<string | undefined>((resume) => {
    const server = createServer()
    server.once("error", ({ message }) => resume(Effect.succeed(message)))
    server.listen({ host, port }, () => server.close(() => resume(Effect.undefined)))
  })

const checkPort = Effect.fnUntraced(function*(names: string, host: string, port: number) {
  const problem = yield* portProblem(host, port)
  return problem === undefined ? [] : [`Cannot listen on ${host}:${port} (${names}): ${problem}`]
})

const checkDataDir = Effect.fnUntraced(function*(dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fs.exists(dataDir), () => true))) return []
  return yield* fs.access(dataDir, { readable: true, writable: true }).pipe(
    Effect.as([]),
    Effect.catch((error) =>
      Effect.succeed([`The server cannot write to the data folder ${dataDir} (DATA_DIR): ${error.message}`])
    )
  )
})

/**
 * Checks ports, data folder and Redis before the server creates anything, and logs variables that resemble a setting.
 * Fails with all problems at once. A successor gets its port from the running server.
 */
export const check = traced("StartChecks.check")(function*() {
  const { cluster, dataDir, host, port, redisUrl, unknownVariables } = yield* Environment
  const { expected } = yield* Handover
  yield* Effect.forEach(unknownVariables, (message) => Effect.logWarning(message), { discard: true })
  const problems = yield* Effect.all([
    expected ? Effect.succeed([]) : checkPort("HOST, PORT", host, port),
    cluster === undefined ? Effect.succeed([]) : checkPort("CLUSTER_HOST, CLUSTER_PORT", cluster.host, cluster.port),
    checkDataDir(dataDir),
    redisUrl === undefined
      ? Effect.succeed([])
      : Effect.scoped(Layer.build(Redis.layer(redisUrl))).pipe(
        Effect.as([]),
        Effect.catch(({ message }) => Effect.succeed([message]))
      )
  ], { concurrency: "unbounded" })
  if (problems.flat().length > 0) return yield* new OperatorError({ message: problems.flat().join("\n") })
})()
