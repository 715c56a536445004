import { Effect, type FileSystem, type Path, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { commandName } from "../../layers/CommandName.ts"
import * as Database from "../../layers/Database.ts"
import * as DatabaseClock from "../../layers/DatabaseClock.ts"
import { rowsOf, singleRow } from "../../services/database/Rows.ts"
import { InboundActivities } from "../../services/federation/inbox/InboundActivities.ts"
import { Deliveries } from "../../services/federation/outbox/Deliveries.ts"
import { Fanouts } from "../../services/intents/Fanouts.ts"
import { type Examination, Fail, Ok, Skip, Warn } from "./Examination.ts"

const versionRows = rowsOf(Schema.Struct({ number: Schema.Int, version: Schema.String }))
const sessionRows = rowsOf(Schema.Struct({ sessions: Schema.Int, sessionsMax: Schema.Int }))
const tableRows = rowsOf(Schema.Struct({ exists: Schema.Boolean }))
const latestRows = rowsOf(Schema.Struct({ latest: Schema.Int }))

/** Age from which unfinished fan-out counts as stuck, in milliseconds. */
const intentMillisMax = 60_000
/** Age from which a received activity counts as stuck, in milliseconds; longer, because it is retried for some time. */
const inboundAgeMillisMax = 3_600_000
/** Age from which a waiting delivery is reported, in milliseconds; servers that are down are retried for days. */
const deliveryMillisMax = 86_400_000
/** Part of Postgres' sessions from which the operator is warned. */
const sessionsShareMax = 0.8

/** True if the schema has been created. */
const hasSchema = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return singleRow(yield* tableRows(sql`SELECT to_regclass('effect_sql_migrations') IS NOT NULL AS exists`)).exists
})

const empty = Skip({ words: "the database is empty; the server creates the schema when it starts" })

/** Runs a check of the tables, if there are any. */
const ofTables = <R>(examine: Examination<R>["examine"]) =>
  Effect.flatMap(hasSchema, (exists) => exists ? examine : Effect.succeed(empty))

const seconds = (millis: number) => `${Math.round(millis / 1_000)} s`

/** Checks of the database. */
export const databaseChecks: ReadonlyArray<Examination<SqlClient.SqlClient | FileSystem.FileSystem | Path.Path>> = [
  {
    subject: "Postgres",
    examine: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { number, version } = singleRow(
        yield* versionRows(sql`
          SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version`)
      )
      return number >= 140_000 ? Ok({ words: version }) : Fail({ words: `${version} is older than 14` })
    })
  },
  {
    subject: "Sessions of Postgres",
    examine: Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { sessions, sessionsMax } = singleRow(
        yield* sessionRows(sql`SELECT current_setting('max_connections')::int AS sessions_max,
          (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS sessions`)
      )
      const words = `${sessions} of ${sessionsMax}`
      return sessions <= sessionsMax * sessionsShareMax
        ? Ok({ words })
        : Warn({ words: `${words}; raise max_connections, or lower DATABASE_CONNECTIONS of the nodes` })
    })
  },
  {
    subject: "Clock",
    examine: Effect.gen(function*() {
      const millis = yield* DatabaseClock.skew
      const problem = DatabaseClock.skewWarning(millis)
      return problem === undefined ? Ok({ words: `${millis} ms ahead of that of Postgres` }) : Fail({ words: problem })
    })
  },
  {
    subject: "Schema",
    examine: ofTables(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* latestRows(sql`SELECT max(migration_id) AS latest FROM effect_sql_migrations`)
      const newest = yield* Database.newestMigration
      return row?.latest === newest
        ? Ok({ words: `migration ${newest}` })
        : Fail({ words: `migration ${row?.latest ?? 0} of ${newest}; start the server or run migrate` })
    }))
  },
  {
    subject: "Waiting work",
    examine: ofTables(
      Effect.gen(function*() {
        const { count, oldestMillis } = yield* (yield* Fanouts).backlog
        return oldestMillis > intentMillisMax
          ? Fail({
            words: `followers were not told of ${count} changes, the oldest of ${
              seconds(oldestMillis)
            } ago; is a server running?`
          })
          : Ok({ words: `${count} changes to fan out` })
      }).pipe(Effect.provide(Fanouts.layer))
    )
  },
  {
    subject: "Received activities",
    examine: ofTables(
      Effect.gen(function*() {
        const { dead, oldestMillis, waiting } = yield* (yield* InboundActivities).backlog
        if (dead > 0) {
          return Fail({ words: `${dead} failed on every attempt; ${commandName} federation dead shows why` })
        }
        return oldestMillis > inboundAgeMillisMax
          ? Fail({ words: `${waiting} waiting, the oldest for ${seconds(oldestMillis)}; is a server running?` })
          : Ok({ words: `${waiting} waiting` })
      }).pipe(Effect.provide(InboundActivities.layer))
    )
  },
  {
    subject: "Deliveries",
    examine: ofTables(
      Effect.gen(function*() {
        const { count, oldestMillis } = yield* (yield* Deliveries).backlog
        const words = `${count} waiting, the oldest for ${seconds(oldestMillis)}`
        return oldestMillis > deliveryMillisMax
          ? Warn({ words: `${words}; ${commandName} federation queue shows the servers` })
          : Ok({ words })
      }).pipe(Effect.provide(Deliveries.layer))
    )
  }
]
