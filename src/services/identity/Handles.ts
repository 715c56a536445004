import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { Gone, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"
import { isValid } from "./Usernames.ts"

/** A local account's username as its owner writes it, and its avatar's file, if any. */
export interface Handle {
  readonly username: string
  readonly avatarName: string | null
}

const handleRows = rowsOf(Schema.Struct({
  username: Schema.NullOr(Schema.String),
  avatarName: Schema.NullOr(Schema.String),
  retired: Schema.Boolean
}))

/**
 * Resolves local usernames for other servers. A suspended account keeps its name; that of a deleted account is `Gone`.
 */
export class Handles extends Context.Service<Handles, {
  /** Finds an account by its username, ignoring case. */
  readonly find: (username: string) => Effect.Effect<Handle, RecordNotFound | Gone>
}>()("murmuration/services/identity/Handles") {
  static readonly layer = Layer.effect(
    Handles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const find = traced("Handles.find")(function*(username: string) {
        if (!isValid(username)) return yield* new RecordNotFound()
        const name = username.toLowerCase()
        const [row] = yield* handleRows(sql`
          SELECT a.username, a.avatar_name, r.retired
          FROM (SELECT EXISTS (SELECT FROM retired_usernames WHERE username = ${name}) AS retired) r
          LEFT JOIN accounts a ON lower(a.username) = ${name} AND lower(coalesce(a.domain, '')) = ''
            AND ${sql.literal(presentAccount("a"))}`).pipe(Effect.orDie)
        if (row?.username) return { username: row.username, avatarName: row.avatarName }
        return yield* row?.retired === true ? new Gone() : new RecordNotFound()
      })
      return Handles.of({ find })
    })
  )
}
