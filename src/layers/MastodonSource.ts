import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { Source } from "../services/mastodon/Source.ts"
import * as Database from "./Database.ts"

/** Variable with the URL of the database, unless `--database` has it: users of a machine see arguments of commands. */
export const urlVariable = "MASTODON_DATABASE_URL"
/** Places of the URL, for errors. */
export const setting = `--database or ${urlVariable}`

/** Maximum connections to the database of a running server. */
const connectionsMax = 2

/** Session settings: the database cannot be written, and times are read as UTC. */
const readOnly = { timezone: "UTC", "default_transaction_read_only": "on", "application_name": "murmuration transfer" }

/** Client of a Mastodon database. */
export const layer = (url: Redacted.Redacted) =>
  Layer.effect(
    Source,
    PgClient.make({
      url,
      ...Database.names,
      maxConnections: connectionsMax,
      connectTimeout: "3 seconds",
      startupParameters: readOnly
    }).pipe(
      // Connects at once, so that an error of this database is not taken for one of the server's own.
      Effect.tap((source) => source`SELECT 1`),
      Effect.mapError(Database.failedAt(setting))
    )
  ).pipe(Layer.provide(Reactivity.layer))

/** Client of this server's database without the time limits of requests, as batches of a copy are large. */
export const target = (connection: Database.Connection) =>
  PgClient.layer({
    ...connection,
    ...Database.names,
    maxConnections: connectionsMax,
    connectTimeout: "3 seconds",
    startupParameters: { timezone: "UTC", "application_name": "murmuration transfer" }
  })
