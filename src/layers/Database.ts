import * as NodeServices from "@effect/platform-node/NodeServices"
import { PgClient, PgMigrator } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted, Schedule, String } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import type { MigrationError } from "effect/sql/Migrator"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { fileURLToPath } from "node:url"
import { traced } from "../services/Traced.ts"
import { EmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { OperatorError } from "./OperatorError.ts"

/** How to reach one database. */
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
    /** Sessions of this process at most; transactions and listeners hold one each, plain queries share them. */
    readonly maxConnections?: number
  }

/** The database inside an embedded Postgres. */
const embeddedDatabase = "postgres"
export const defaultMaxConnections = 20

/** A name in its other form, made once; names of columns stand in statements of this program, so that there are not many. */
const remembered = (transform: (name: string) => string) => {
  const known = new Map<string, string>()
  return (name: string): string => {
    const before = known.get(name)
    if (before !== undefined) return before
    const made = transform(name)
    known.set(name, made)
    return made
  }
}

/** How rows are named here and in Postgres; every client of the schema takes it. */
export const names = {
  transformQueryNames: remembered(String.camelToSnake),
  transformResultNames: remembered(String.snakeToCamel),
  // Documents inside jsonb columns keep the names that their writer gave them.
  transformJson: false
}

/**
 * Milliseconds, as Postgres' settings of a session have them; a stuck peer must not hold a row for longer. Statements
 * are planned once a session: to plan one anew costs several times what running it does. Postgres would do so for ever
 * where the first values looked cheaper than most.
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

/** The number of the schema's last change that this program knows. */
export const newestMigration = Effect.map(migrations, (known) => known.at(-1)?.[0] ?? 0)

/** Sessions with Postgres that stay open between queries, so that the first ones do not wait for them. */
const warmConnections = 2
/** Sessions that are held for long, each for itself: listening, locks, the cluster's leases. */
const heldConnections = 4

/**
 * The server's client: `SqlClient` and `PgClient`, with camelCase in the program and snake_case in the database. Opens
 * sessions when they are needed. A Postgres that is away fails queries (within 3 s) and not the server; one that comes
 * back is used again. Sessions that are held for long come from `HeldSessions`.
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

/** Where a server has its client from; one of its own, unless it runs where others ran before it in the same process. */
export const Clients = Context.Reference<(connection: Connection) => ReturnType<typeof client>>(
  "murmuration/layers/Database/Clients",
  { defaultValue: () => client }
)

/**
 * A client for sessions that are held for long (`listen`, `reserve`). In the multiplexed pool of effect 4.1 a query may
 * wait for a session that is then reserved. It is woken with the next release only, which here would be never.
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

/** What went wrong with the database, for the operator. */
export const failed = (error: SqlError | MigrationError) =>
  new OperatorError({ message: `The database cannot be used: ${describe(error)}` })

/**
 * Brings the schema up to date in one transaction under a lock, so that nodes that start at once agree. It has a
 * session of its own without time limits. Answers the numbers and names of what it ran.
 */
export const migrate = traced("Database.migrate")(
  function*(connection: Connection) {
    const run = PgMigrator.run({ loader: migrations })
    return yield* run.pipe(
      Effect.provide(PgClient.layer({ ...connection, ...names, maxConnections: 1, connectTimeout: "3 seconds" })),
      Effect.provide(NodeServices.layer)
    )
  },
  // Postgres may still be starting, in a cluster as well as after a crash.
  Effect.retry({ while: isConnectionError, times: 10, schedule: Schedule.spaced("1 second") }),
  Effect.mapError(failed)
)

function isConnectionError(error: SqlError | MigrationError) {
  return isSqlError(error) && error.reason._tag === "ConnectionError"
}

const describe = (error: SqlError | MigrationError): string => {
  const { cause } = isSqlError(error) ? error.reason : error
  return cause instanceof Error && cause.message !== error.message
    ? `${error.message} (${cause.message})`
    : error.message
}

/** A migrated database at `connection`. */
export const layerAt = (connection: Connection) =>
  Layer.merge(
    Layer.unwrap(Effect.map(Clients, (clientOf) => clientOf(connection))),
    HeldSessions.layer(connection)
  ).pipe(Layer.provide(Layer.effectDiscard(migrate(connection))))

/** A migrated database in the Postgres that this server runs itself. */
export const layerEmbedded = (maxConnections?: number) =>
  Layer.unwrap(
    Effect.map(EmbeddedPostgres, (postgres) =>
      layerAt({ ...connectionOf(postgres), ...(maxConnections === undefined ? {} : { maxConnections }) }))
  )

/** The connection to the database of an embedded Postgres. */
export const connectionOf = (postgres: EmbeddedPostgres["Service"]): Connection => ({
  ...postgres.endpoint,
  username: postgres.username,
  password: postgres.password,
  database: embeddedDatabase
})
