import type { PgClient } from "@effect/sql-pg"
import { type Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as Database from "../../src/layers/Database.ts"
import { connection as connectionTo } from "./PostgresServer.ts"

/*
 * Sessions with test databases that stay open from one server of a process to the next. A new session plans every
 * statement again, which takes Postgres longer than most tests need.
 */

/** Application name of the sessions; code that ends other sessions spares it. */
export const applicationName = "murmuration-kept"

interface Kept {
  readonly scope: Scope.Closeable
  readonly services: Promise<Context.Context<PgClient.PgClient | SqlClient.SqlClient>>
}

const sessions = new Map<string, Kept>()

/** Opens sessions on the process's real clock: a test's clock would stop in the next test. */
const open = (name: string): Kept => {
  const scope = Scope.makeUnsafe()
  const client = Database.client(connectionTo(inject("postgres"), name), applicationName)
  return { scope, services: Effect.runPromise(Layer.buildWithScope(client, scope)) }
}

/** Returns the database's name if test processes reuse it and the connection has no proxy in between. */
const keptName = (connection: Database.Connection): string | undefined => {
  const { folder } = inject("postgres")
  if ("url" in connection) {
    const { pathname, searchParams } = new URL(Redacted.value(connection.url))
    return searchParams.get("host") === folder ? pathname.slice(1) : undefined
  }
  return connection.path?.startsWith(`${folder}/`) === true ? connection.database : undefined
}

/** Replaces `Database.Clients`: returns the open sessions if the server uses the default number of connections. */
export const clients = (connection: Database.Connection): ReturnType<typeof Database.client> => {
  const name = keptName(connection)
  const { maxConnections = Database.defaultMaxConnections } = connection
  if (name === undefined || !used.has(name) || maxConnections !== Database.defaultMaxConnections) {
    return Database.client(connection)
  }
  return Layer.effectContext(Effect.promise(() => {
    const found = sessions.get(name) ?? open(name)
    sessions.set(name, found)
    return found.services
  }))
}

/** Databases that are emptied and reused; others are changed and dropped. */
const used = new Set<string>()
export const keep = (name: string) => Effect.sync(() => used.add(name))

/** Ends the sessions with a database. */
export const end = Effect.fnUntraced(function*(name: string) {
  used.delete(name)
  const found = sessions.get(name)
  if (found === undefined) return
  sessions.delete(name)
  yield* Scope.close(found.scope, Exit.void)
})
