import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Purges } from "../../services/federation/purge/Purges.ts"
import { Accounts } from "./Accounts.ts"
import type { Ownership } from "./Ownership.ts"

/** What a remote account that is gone left behind, a slice each time it is due. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  const purges = yield* Purges

  return {
    /** The next slice does not wait for the agenda to look again. */
    due: ({ accountId }: Ownership) =>
      Effect.andThen(purges.advance(accountId), sql.afterCommit(accounts.wake(accountId)))
  }
})
