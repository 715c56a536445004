import * as NodeServices from "@effect/platform-node/NodeServices"
import { PgClient, PgMigrator } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted, Schedule, String } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import type { MigrationError } from "effect/sql/Migrator"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { fileURLToPath } from "node:url"
import { traced } from "../services/runtime/Traced.ts"
import { EmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { OperatorError } from "./OperatorError.ts"

/** Connection parameters of a database. */
export type Connection =
  & ({ readonly url: Redacted.Redacted<string> } | {
    readonly path?: string
    readonly host?: string
    readonly port?: number
    readonly username: string
    readonly password: Redacted.Redacted<string>
    readonly database: string
  })
  & {
    /** Maximum connections of this process; transactions and listeners hold one each, plain queries share them. */
    readonly maxConnections?: number
  }

/** Name of the database in an embedded Postgres. */
const embeddedDatabase = "postgres"
export const defaultMaxConnections = 20

/**
 * Memoises a name transformation; the cache stays small, because all names are columns in this program's statements.
 */
const remembered = (transform: (name: string) => string) => {
  const known = new Map<string, string>()
  return (name: string): string => {
    const before = known.get(name)
    if (before !== undefined) return before
    const transformed = transform(name)
    known.set(name, transformed)
    return transformed
  }
}

/** Name transformations between the program and Postgres; used by every client of the schema. */
export const names = {
  transformQueryNames: remembered(String.camelToSnake),
  transformResultNames: remembered(String.snakeToCamel),
  // Documents in jsonb columns keep the key names that were written.
  transformJson: false
}

/**
 * Session settings; timeouts in milliseconds, so that a stuck peer holds no row for longer. Statements are planned once
 * per session: planning costs several times what running does. Without `plan_cache_mode`, Postgres would plan each time
 * if the first values looked cheaper than most.
 */
const session = {
  "application_name": "murmuration",
  timezone: "UTC",
  "plan_cache_mode": "force_generic_plan",
  "statement_timeout": "15000",
  "lock_timeout": "10000",
  "idle_in_transaction_session_timeout": "5000"
}

const migrations = MigratorFileSystem.fromFileSystem(fileURLToPath(new URL("../../migrations", import.meta.url)))

/** Number of the newest migration that this program has. */
export const newestMigration = Effect.map(migrations, (known) => known.at(-1)?.[0] ?? 0)

/** Minimum idle connections, so that the first queries need not wait for one. */
const warmConnections = 2
/** Maximum long-held connections, each used alone: listening, locks, the cluster's leases, samples of statements. */
const heldConnections = 4

/**
 * The server's `SqlClient` and `PgClient`, with camelCase names in the program and snake_case in the database. Opens
 * connections on demand. While Postgres is down, queries fail within 3 s and the server runs on; it reconnects
 * afterwards. Long-held connections come from `HeldSessions`.
 */
export const client = (
  connection: Connection,
  applicationName = session["application_name"]
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, OperatorError> =>
  PgClient.layer({
    ...connection,
    ...names,
    minConnections: warmConnections,
    maxConnections: connection.maxConnections ?? defaultMaxConnections,
    multiplex: true,
    connectTimeout: "3 seconds",
    startupParameters: { ...session, "application_name": applicationName }
  }).pipe(Layer.catch((error) => Layer.effectContext(failed(error))))

/** Factory of the server's client. Tests replace it to share clients between servers of one process. */
export const Clients = Context.Reference<(connection: Connection) => ReturnType<typeof client>>(
  "murmuration/layers/Database/Clients",
  { defaultValue: () => client }
)

/**
 * Client for long-held sessions (`listen`, `reserve`). In effect 4.1's multiplexed pool a query may wait for a session
 * that is then reserved. It is woken only by the next release, which here would never come.
 */
export class HeldSessions extends Context.Service<HeldSessions, PgClient.PgClient>()(
  "murmuration/layers/Database/HeldSessions"
) {
  static readonly layer = (connection: Connection) =>
    Layer.effect(
      HeldSessions,
      PgClient.make({
        ...connection,
        ...names,
        maxConnections: heldConnections,
        connectTimeout: "3 seconds",
        startupParameters: session
      }).pipe(Effect.mapError(failed))
    ).pipe(Layer.provide(Reactivity.layer))
}

/** Returns a function that turns an error of the database at the URL of `setting` into an operator error. */
export const failedAt =
  (setting: string, database = `The database of ${setting}`) => (error: SqlError | MigrationError) =>
    new OperatorError({
      message: `${database} cannot be used: ${describe(error, setting)}`,
      unreachable: isConnectionError(error)
    })

/** Turns an error of this server's database into an operator error. */
export const failed = failedAt("DATABASE_URL", "The database")

/**
 * Migrates the schema in one transaction under a lock, so that nodes may start concurrently. Uses its own session
 * without timeouts. Stops after the migration `newest`. Returns the numbers and names of the migrations that ran.
 */
export const migrate = traced("Database.migrate")(
  function*(connection: Connection, newest = Infinity) {
    const loader = Effect.map(migrations, (known) => known.filter(([number]) => number <= newest))
    const run = PgMigrator.run({ loader })
    return yield* run.pipe(
      Effect.provide(PgClient.layer({ ...connection, ...names, maxConnections: 1, connectTimeout: "3 seconds" })),
      Effect.provide(NodeServices.layer)
    )
  },
  // Postgres says that it is starting, after a crash for up to some minutes.
  Effect.retry({ while: (error) => codeOf(error) === startingCode, times: 60, schedule: Schedule.spaced("1 second") }),
  // Nothing responds: a wrong address, which the operator learns within five seconds, or a node that is a moment late.
  Effect.retry({
    while: isConnectionError,
    schedule: Schedule.max([Schedule.spaced("500 millis"), Schedule.during("2 seconds")])
  }),
  Effect.mapError(failed)
)

/** Returns true if Postgres could not be reached, or the connection was lost. */
export function isConnectionError(error: SqlError | MigrationError): boolean {
  return isSqlError(error) && error.reason._tag === "ConnectionError"
}

/** Error code of a Postgres that does not accept connections yet (`cannot_connect_now`). */
const startingCode = "57P03"

const causeOf = (error: SqlError | MigrationError): unknown => isSqlError(error) ? error.reason.cause : error.cause

/** Returns the code of Postgres or of the socket. */
const codeOf = (error: SqlError | MigrationError): string | undefined => {
  const cause = causeOf(error)
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined
}

/** Advice to the operator, by error code; `SETTING` stands for the setting with the URL. */
const advice: Readonly<Record<string, string>> = {
  "28000": "Correct the user in SETTING.",
  "28P01": "Correct user and password in SETTING.",
  "3D000": "Create the database, or correct its name in SETTING.",
  "42501": "Make the user of SETTING the owner of the database.",
  ECONNREFUSED: "Start Postgres, or correct host and port in SETTING.",
  ENOTFOUND: "Correct the host in SETTING."
}

const describe = (error: SqlError | MigrationError, setting: string): string => {
  const cause = causeOf(error)
  const words = cause instanceof Error && cause.message !== error.message
    ? `${error.message} (${cause.message})`
    : error.message
  return [words, advice[codeOf(error) ?? ""]?.replace("SETTING", setting)].filter((part) => part !== undefined).join(
    ". "
  )
}

/** Client of the database at `connection`, after its migration. */
export const layerAt = (connection: Connection) =>
  Layer.merge(
    Layer.unwrap(Effect.map(Clients, (clientOf) => clientOf(connection))),
    HeldSessions.layer(connection)
  ).pipe(Layer.provide(Layer.effectDiscard(migrate(connection))))

/** Client of the embedded Postgres' database, after its migration. */
export const layerEmbedded = (maxConnections?: number) =>
  Layer.unwrap(
    Effect.map(EmbeddedPostgres, (postgres) =>
      layerAt({ ...connectionOf(postgres), ...(maxConnections === undefined ? {} : { maxConnections }) }))
  )

/** Returns the connection to an embedded Postgres' database. */
export const connectionOf = (postgres: EmbeddedPostgres["Service"]): Connection => ({
  ...postgres.endpoint,
  username: postgres.username,
  password: postgres.password,
  database: embeddedDatabase
})
