import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { validationFailed } from "../runtime/Errors.ts"
import type { Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { hasMoreCharacters } from "../text/Characters.ts"

/** Maximum characters of a private note about an account (limits-and-rates.md section 1). */
const noteCharactersMax = 2_000

/** Private notes of one account about others. */
export class AccountNotes extends Context.Service<AccountNotes, {
  /** Writes a note; a blank comment deletes it. */
  readonly write: (account: AccountId, about: AccountId, comment: string) => Effect.Effect<void, Unprocessable>
}>()("murmuration/services/social/AccountNotes") {
  static readonly layer = Layer.effect(
    AccountNotes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const write = traced("AccountNotes.write")(function*(account: AccountId, about: AccountId, comment: string) {
        if (hasMoreCharacters(comment, noteCharactersMax)) {
          return yield* validationFailed(`Comment is too long (maximum is ${noteCharactersMax} characters)`)
        }
        const statement = comment.trim() === ""
          ? sql`DELETE FROM account_notes WHERE account_id = ${account} AND target_account_id = ${about}`
          : sql`INSERT INTO account_notes (account_id, target_account_id, comment) VALUES (${account}, ${about}, ${comment})
              ON CONFLICT (account_id, target_account_id) DO UPDATE SET comment = EXCLUDED.comment`
        yield* Effect.orDie(statement)
      })
      return AccountNotes.of({ write })
    })
  )
}
