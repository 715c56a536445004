import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Layer, type Path, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import * as Database from "../layers/Database.ts"
import * as DatabaseClock from "../layers/DatabaseClock.ts"
import { Environment } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { Redis } from "../layers/Redis.ts"
import * as Storages from "../layers/storage/Storages.ts"
import { rowsOf } from "../services/database/Rows.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { Fanouts } from "../services/intents/Fanouts.ts"
import { Storage } from "../services/media/Storage.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { connection } from "./Migrate.ts"

const versionRows = rowsOf(Schema.Struct({ number: Schema.Int, version: Schema.String }))
const latestRows = rowsOf(Schema.Struct({ latest: Schema.Int }))

/** Age from which unfinished fan-out counts as stuck, in milliseconds. */
const intentMillisMax = 60_000

/** Age from which a received activity counts as stuck, in milliseconds; longer, because it is retried for some time. */
const inboundAgeMillisMax = 3_600_000

/** One check: returns a description of the good state, or fails with the problem. */
interface Examination {
  readonly subject: string
  readonly examine: Effect.Effect<
    string,
    { readonly message: string },
    Environment | SqlClient.SqlClient | FileSystem.FileSystem | Path.Path
  >
}

const wrong = (message: string) => new OperatorError({ message })

const examinations: ReadonlyArray<Examination> = [
  {
    subject: "Node",
    examine: Effect.suspend(() =>
      Number(process.versions.node.split(".")[0]) >= 24
        ? Effect.succeed(process.version)
        : wrong(`${process.version} is too old; \`npm run\` uses the right version`)
    )
  },
  {
    subject: "Configuration",
    examine: Effect.map(
      Environment,
      ({ cluster, server }) =>
        `${server.publicUrl}, handles end in @${server.localDomain}, ${
          server.federated ? "federated" : "unfederated (no https)"
        }, ` +
        `${cluster === undefined ? "one process" : `cluster node at ${cluster.host}:${cluster.port}`}`
    )
  },
  {
    subject: "Data folder",
    examine: Effect.gen(function*() {
      const { dataDir } = yield* Environment
      const fs = yield* FileSystem.FileSystem
      if (!(yield* fs.exists(dataDir))) return `${dataDir} does not exist yet; it is created when needed`
      yield* fs.access(dataDir, { writable: true })
      return dataDir
    })
  },
  {
    subject: "Postgres",
    examine: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* versionRows(sql`
        SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version`)
      return row !== undefined && row.number >= 140_000 ? row.version : yield* wrong(`${row?.version} is older than 14`)
    })
  },
  {
    subject: "Clock",
    examine: Effect.gen(function*() {
      const millis = yield* DatabaseClock.skew
      const problem = DatabaseClock.complaint(millis)
      return problem === undefined ? `${millis} ms ahead of that of Postgres` : yield* wrong(problem)
    })
  },
  {
    subject: "Schema",
    examine: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* latestRows(sql`SELECT max(migration_id) AS latest FROM effect_sql_migrations`)
      const newest = yield* Database.newestMigration
      return row?.latest === newest
        ? `migration ${newest}`
        : yield* wrong(`migration ${row?.latest ?? 0} of ${newest}; start the server or run migrate`)
    })
  },
  {
    subject: "Waiting work",
    examine: Effect.gen(function*() {
      const { count, oldestMillis } = yield* (yield* Fanouts).backlog
      return oldestMillis > intentMillisMax
        ? yield* wrong(
          `followers were not told of ${count} changes, the oldest of ${
            Math.round(oldestMillis / 1000)
          } s ago; is a server running?`
        )
        : `${count} changes to fan out`
    }).pipe(Effect.provide(Fanouts.layer))
  },
  {
    subject: "Received activities",
    examine: Effect.gen(function*() {
      const { dead, oldestMillis, waiting } = yield* (yield* InboundActivities).backlog
      if (dead > 0) {
        return yield* wrong(`${dead} failed on every attempt; npm run cli -- federation dead shows why`)
      }
      return oldestMillis > inboundAgeMillisMax
        ? yield* wrong(`${waiting} waiting, the oldest for ${Math.round(oldestMillis / 1000)} s; is a server running?`)
        : `${waiting} waiting`
    }).pipe(Effect.provide(InboundActivities.layer))
  },
  {
    subject: "Files",
    examine: Effect.gen(function*() {
      const { dataDir, s3 } = yield* Environment
      // Lists the first file only. A bucket explains in its error why it refuses access.
      yield* Stream.runHead((yield* Storage).list)
      return s3 === undefined ? `${dataDir}/media` : `bucket ${s3.bucket} at ${s3.endpoint}`
    }).pipe(Effect.provide(Storages.layer))
  },
  {
    subject: "Redis",
    examine: Effect.gen(function*() {
      const { redisUrl } = yield* Environment
      if (redisUrl === undefined) return "not used"
      return yield* Effect.flatMap(Redis, (redis) => redis.use((client) => client.ping())).pipe(
        Effect.provide(Redis.layer(redisUrl))
      )
    })
  }
]

export const command = Command.make(
  "doctor",
  {},
  traced("doctor")(function*() {
    const context = yield* Layer.build(Layer.unwrap(Effect.map(connection, Database.client)))
    const results = yield* Effect.forEach(
      examinations,
      ({ examine, subject }) =>
        Effect.match(Effect.provide(examine, context), {
          onSuccess: (words) => ({ healthy: true, line: `ok     ${subject}: ${words}` }),
          onFailure: (error) => {
            const { message } = isSqlError(error) ? Database.failed(error) : error
            return { healthy: false, line: `FAIL   ${subject}: ${message}` }
          }
        })
    )
    yield* Console.log(results.map(({ line }) => line).join("\n"))
    if (results.some(({ healthy }) => !healthy)) return yield* wrong("Some checks failed.")
  }, (effect) =>
    effect.pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
    ))
).pipe(
  Command.withDescription("Checks the server's configuration and dependencies"),
  withExamples(["", "Checks everything"])
)
