import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { rowsOf } from "../services/database/Rows.ts"
import { traced } from "../services/runtime/Traced.ts"
import { commandName } from "./CommandName.ts"
import { type Connection, connectionOf, names } from "./Database.ts"
import * as DataFolder from "./embedded/DataFolder.ts"
import { EmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { OperatorError } from "./OperatorError.ts"

const foundRows = rowsOf(Schema.Struct({ found: Schema.Boolean }))

/** Returns true if a database has local accounts. */
const hasUsers = (connection: Connection) =>
  Effect.scoped(Effect.gen(function*() {
    const sql = yield* PgClient.make({ ...connection, ...names, maxConnections: 1, connectTimeout: "3 seconds" })
    const [table] = yield* foundRows(sql`SELECT to_regclass('users') IS NOT NULL AS found`)
    if (table?.found !== true) return false
    const [user] = yield* foundRows(sql`SELECT EXISTS (SELECT FROM users) AS found`)
    return user?.found === true
  })).pipe(Effect.provide(Reactivity.layer))

/**
 * Fails if the embedded database in `dataDir` has accounts and the one at `url` has none: the operator would get an
 * empty server beside the existing one. An unreachable database passes; connecting to it reports the error.
 */
export const refuse = traced("ForgottenDatabase.refuse")(function*(url: Redacted.Redacted<string>, dataDir: string) {
  const folder = yield* DataFolder.of(dataDir)
  if (!(yield* DataFolder.exists(folder))) return
  if (yield* Effect.orElseSucceed(hasUsers({ url }), () => true)) return
  const embedded = Context.get(yield* Layer.build(EmbeddedPostgres.layer({ dataDir, adopt: false })), EmbeddedPostgres)
  if (!(yield* Effect.orElseSucceed(hasUsers(connectionOf(embedded)), () => true))) return
  return yield* new OperatorError({
    message: `The database of DATABASE_URL has no accounts, but the embedded one in ${folder} has. ` +
      "Remove DATABASE_URL to run with the embedded one. To move its contents to your own Postgres, run " +
      `\`${commandName} transfer postgres\`. To begin with an empty server, move that folder away.`
  })
}, Effect.scoped)
