import type { PgClient } from "@effect/sql-pg"
import { type Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as Database from "../../src/layers/Database.ts"
import { connection as connectionTo } from "./PostgresServer.ts"

/*
 * Sessions with databases of tests that stay open from one server of a process to the next: a new one plans every statement anew,
 * which takes Postgres longer than most tests need.
 */

/** How Postgres names them, so that whoever ends the others lets them be. */
export const applicationName = "murmuration-kept"

interface Kept {
  readonly scope: Scope.Closeable
  readonly services: Promise<Context.Context<PgClient.PgClient | SqlClient.SqlClient>>
}

const kept = new Map<string, Kept>()

/** Sessions of the process's own time: a test's clock would stand still in the next one. */
const open = (name: string): Kept => {
  const scope = Scope.makeUnsafe()
  const client = Database.client(connectionTo(inject("postgres"), name), applicationName)
  return { scope, services: Effect.runPromise(Layer.buildWithScope(client, scope)) }
}

/** The name of the database, where it is one that processes of tests use again and nothing stands in between. */
const keptName = (connection: Database.Connection): string | undefined => {
  const { folder } = inject("postgres")
  if ("url" in connection) {
    const { pathname, searchParams } = new URL(Redacted.value(connection.url))
    return searchParams.get("host") === folder ? pathname.slice(1) : undefined
  }
  return connection.path?.startsWith(`${folder}/`) === true ? connection.database : undefined
}

/** As `Database.Clients`: the sessions that are there, where a server has as many as one has by default. */
export const clients = (connection: Database.Connection): ReturnType<typeof Database.client> => {
  const name = keptName(connection)
  const { maxConnections = Database.defaultMaxConnections } = connection
  if (name === undefined || !used.has(name) || maxConnections !== Database.defaultMaxConnections) {
    return Database.client(connection)
  }
  return Layer.effectContext(Effect.promise(() => {
    const found = kept.get(name) ?? open(name)
    kept.set(name, found)
    return found.services
  }))
}

/** Databases that are emptied and used again; others are changed and dropped. */
const used = new Set<string>()
export const keep = (name: string) => Effect.sync(() => used.add(name))

/** Ends the sessions with a database. */
export const end = Effect.fnUntraced(function*(name: string) {
  used.delete(name)
  const found = kept.get(name)
  if (found === undefined) return
  kept.delete(name)
  yield* Scope.close(found.scope, Exit.void)
})
