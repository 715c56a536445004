import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Gone, RecordNotFound } from "../Errors.ts"
import { traced } from "../Traced.ts"
import { presentAccount } from "./Accounts.ts"
import { isValid } from "./Usernames.ts"

/** Names of local accounts as other servers ask for them. A suspended account keeps its name, a deleted one's is gone. */
export class Handles extends Context.Service<Handles, {
  /** The name as its owner writes it, whatever the case of what is asked. */
  readonly find: (username: string) => Effect.Effect<string, RecordNotFound | Gone>
}>()("murmuration/services/identity/Handles") {
  static readonly layer = Layer.effect(
    Handles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const find = traced("Handles.find")(function*(username: string) {
        if (!isValid(username)) return yield* new RecordNotFound()
        const name = username.toLowerCase()
        const [row] = yield* sql<{ username: string | null; retired: boolean }>`
          SELECT (SELECT a.username FROM accounts a WHERE lower(a.username) = ${name} AND lower(coalesce(a.domain, '')) = ''
              AND ${sql.literal(presentAccount("a"))}) AS username,
            EXISTS (SELECT FROM retired_usernames WHERE username = ${name}) AS retired`.pipe(Effect.orDie)
        if (row?.username) return row.username
        return yield* row?.retired === true ? new Gone() : new RecordNotFound()
      })
      return Handles.of({ find })
    })
  )
}
