import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import type { LocalName } from "../instance/LocalNames.ts"
import { ActorPath } from "../instance/Urls.ts"
import { Gone, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"
import { isValid } from "./Usernames.ts"

/** Names of a local account: its username as its owner writes it, and the path of its actor; and its avatar's file, if any. */
export interface Handle {
  readonly id: bigint
  readonly username: string
  readonly actorPath: ActorPath
  readonly avatarName: string | null
}

const handleRows = rowsOf(Schema.Struct({
  id: Schema.NullOr(Schema.BigInt),
  actorPath: Schema.NullOr(ActorPath),
  username: Schema.NullOr(Schema.String),
  avatarName: Schema.NullOr(Schema.String),
  retired: Schema.Boolean
}))

/**
 * Resolves local usernames for other servers. A suspended account keeps its name; that of a deleted account is `Gone`.
 */
export class Handles extends Context.Service<Handles, {
  /** Finds an account by its username, ignoring case, or by its id. */
  readonly find: (name: LocalName) => Effect.Effect<Handle, RecordNotFound | Gone>
}>()("murmuration/services/identity/Handles") {
  static readonly layer = Layer.effect(
    Handles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const find = traced("Handles.find")(function*(asked: LocalName) {
        if (typeof asked === "string" && !isValid(asked)) return yield* new RecordNotFound()
        const name = typeof asked === "string"
          ? sql`${asked.toLowerCase()}::text`
          : sql`(SELECT lower(username) FROM accounts WHERE id = ${asked} AND domain IS NULL)`
        const [row] = yield* handleRows(sql`
          SELECT a.id, a.username, a.actor_path, a.avatar_name, r.retired
          FROM (SELECT n.name, EXISTS (SELECT FROM retired_usernames WHERE username = n.name) AS retired
            FROM (SELECT ${name} AS name) n) r
          LEFT JOIN accounts a ON lower(a.username) = r.name AND lower(coalesce(a.domain, '')) = ''
            AND ${sql.literal(presentAccount("a"))}`).pipe(Effect.orDie)
        if (row?.id && row.username && row.actorPath) {
          return { id: row.id, username: row.username, actorPath: row.actorPath, avatarName: row.avatarName }
        }
        return yield* row?.retired === true ? new Gone() : new RecordNotFound()
      })
      return Handles.of({ find })
    })
  )
}
