import { Effect, FileSystem, type Path } from "effect"
import { freeBytes, lowBytes, reserveBytes } from "../../layers/embedded/DiskSpace.ts"
import { Environment } from "../../layers/Environment.ts"
import { formatBytes } from "../PictureFile.ts"
import { type Examination, Fail, Ok, Skip, Warn } from "./Examination.ts"

/** Free bytes below which the operator is warned: backups and media processing need space for a while. */
const scarceBytes = 2_147_483_648

/** Checks of this machine and the configuration, which need nothing that runs. */
export const machineChecks: ReadonlyArray<Examination<Environment | FileSystem.FileSystem | Path.Path>> = [
  {
    subject: "Node",
    examine: Effect.sync(() =>
      Number(process.versions.node.split(".")[0]) >= 24
        ? Ok({ words: process.version })
        : Fail({ words: `${process.version} is too old; \`npm run\` uses the right version` })
    )
  },
  {
    subject: "Configuration",
    examine: Effect.map(Environment, ({ cluster, server, unknownVariables }) => {
      if (unknownVariables.length > 0) return Fail({ words: unknownVariables.join("\n       ") })
      const federated = server.federated ? "federated" : "unfederated (no https)"
      const nodes = cluster === undefined ? "one process" : `cluster node at ${cluster.host}:${cluster.port}`
      return Ok({ words: `${server.publicUrl}, handles end in @${server.localDomain}, ${federated}, ${nodes}` })
    })
  },
  {
    subject: "Data folder",
    examine: Effect.gen(function*() {
      const { dataDir } = yield* Environment
      const fs = yield* FileSystem.FileSystem
      if (!(yield* fs.exists(dataDir))) return Ok({ words: `${dataDir} does not exist yet; it is created when needed` })
      yield* fs.access(dataDir, { writable: true })
      return Ok({ words: dataDir })
    })
  },
  {
    subject: "Disk",
    examine: Effect.gen(function*() {
      const { dataDir } = yield* Environment
      const fs = yield* FileSystem.FileSystem
      if (!(yield* fs.exists(dataDir))) return Skip({ words: "there is no data folder yet" })
      const bytes = yield* freeBytes(dataDir)
      const words = `${formatBytes(bytes)} are free`
      if (bytes < lowBytes + reserveBytes) return Fail({ words: `${words}; the embedded Postgres refuses writes soon` })
      return bytes < scarceBytes ? Warn({ words }) : Ok({ words })
    })
  }
]
