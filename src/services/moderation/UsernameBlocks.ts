import { Array as Arr, Clock, Context, Effect, Layer, type Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import type { Page } from "../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { lookalikeKey } from "../identity/Usernames.ts"
import { type RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { auditedRows, isTaken } from "../staff/StaffRows.ts"

/** Maximum characters of a blocked name, and maximum blocks, all of which a sign-up checks. */
const usernameCharactersMax = 30
export const usernameBlocksMax = 10_000

const UsernameBlock = Schema.Struct({
  id: Schema.BigInt,
  username: Schema.String,
  /** True if only the whole name is blocked; otherwise any name that contains it. */
  exact: Schema.Boolean,
  /** True if a moderator may approve a sign-up with the name. */
  allowWithApproval: Schema.Boolean,
  createdAt: Timestamptz,
  updatedAt: Timestamptz
})
export type UsernameBlock = typeof UsernameBlock.Type
const blockRows = rowsOf(UsernameBlock)

interface UsernameBlockWish {
  readonly username?: string | undefined
  readonly exact?: boolean | undefined
  readonly allowWithApproval?: boolean | undefined
}

/** Reserved usernames, including look-alikes: digits count as the letters that they resemble. */
export class UsernameBlocks extends Context.Service<UsernameBlocks, {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<UsernameBlock>>
  /** Number of blocks, as counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
  readonly find: (id: bigint) => Effect.Effect<UsernameBlock, RecordNotFound>
  /** Returns the strictest block that matches a name. */
  readonly matching: (username: string) => Effect.Effect<Option.Option<UsernameBlock>>
  readonly create: (by: AccountId | undefined, wish: UsernameBlockWish) => Effect.Effect<UsernameBlock, Unprocessable>
  readonly update: (
    by: AccountId | undefined,
    id: bigint,
    wish: UsernameBlockWish
  ) => Effect.Effect<UsernameBlock, Unprocessable | RecordNotFound>
  readonly remove: (by: AccountId | undefined, id: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/moderation/UsernameBlocks") {
  static readonly layer = Layer.effect(UsernameBlocks, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const target = ({ id, username }: UsernameBlock) => ({ type: "usernameBlock", id, label: username }) as const
  const table = auditedRows({ sql, audit, table: "username_blocks", rows: blockRows, target })

  const checked = Effect.fnUntraced(function*(wish: UsernameBlockWish, before?: UsernameBlock) {
    const username = wish.username?.trim() ?? before?.username ?? ""
    if (username === "") return yield* validationFailed("Username can't be blank")
    if (!/^[a-z0-9_]+$/i.test(username)) {
      return yield* validationFailed("Username must contain only letters, numbers and underscores")
    }
    if (username.length > usernameCharactersMax) {
      return yield* validationFailed(`Username is too long (maximum is ${usernameCharactersMax} characters)`)
    }
    const normalized = lookalikeKey(username)
    // A name of underscores alone would be contained in every name.
    if (normalized === "") return yield* validationFailed("Username can't be blank")
    return {
      username,
      normalized,
      exact: wish.exact ?? before?.exact ?? true,
      allowWithApproval: wish.allowWithApproval ?? before?.allowWithApproval ?? false,
      at: new Date(yield* Clock.currentTimeMillis)
    }
  })
  const changing = <A, E>(work: Effect.Effect<A, E | SqlError>) =>
    transaction(sql)(work).pipe(
      Effect.catchIf(isTaken, () => Effect.fail(validationFailed("Username has already been taken"))),
      Effect.catchTag("SqlError", Effect.die)
    )

  return UsernameBlocks.of({
    page: traced("UsernameBlocks.page")(table.page),
    total: table.total,
    find: traced("UsernameBlocks.find")(table.find),
    matching: traced("UsernameBlocks.matching")((username) => {
      const name = lookalikeKey(username)
      return table.rows(sql`SELECT * FROM username_blocks
        WHERE CASE WHEN exact THEN normalized_username = ${name} ELSE strpos(${name}, normalized_username) > 0 END
        ORDER BY allow_with_approval, id LIMIT 1`).pipe(Effect.map(Arr.head), Effect.orDie)
    }),
    create: traced("UsernameBlocks.create")(function*(by, wish) {
      const { allowWithApproval, at, exact, normalized, username } = yield* checked(wish)
      return yield* changing(Effect.gen(function*() {
        yield* requireCapacity(sql, { table: "username_blocks", name: "Username blocks", max: usernameBlocksMax })
        const block = singleRow(
          yield* table.rows(sql`INSERT INTO username_blocks (id, username, normalized_username, exact,
            allow_with_approval, created_at, updated_at)
          VALUES (next_id(${at.getTime()}), ${username}, ${normalized}, ${exact}, ${allowWithApproval}, ${at}, ${at})
          RETURNING *`)
        )
        return yield* table.created(by, block)
      }))
    }),
    update: traced("UsernameBlocks.update")((by, id, wish) =>
      changing(table.change(
        by,
        id,
        Effect.fnUntraced(function*(before) {
          const { allowWithApproval, at, exact, normalized, username } = yield* checked(wish, before)
          return singleRow(
            yield* table.rows(
              sql`UPDATE username_blocks SET username = ${username}, normalized_username = ${normalized},
            exact = ${exact}, allow_with_approval = ${allowWithApproval}, updated_at = ${at} WHERE id = ${id} RETURNING *`
            )
          )
        })
      ))
    ),
    remove: traced("UsernameBlocks.remove")((by, id) =>
      transaction(sql)(table.destroy(by, id)).pipe(Effect.catchTag("SqlError", Effect.die))
    )
  })
})
