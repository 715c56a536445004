import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { ListFeeds } from "../feeds/ListFeeds.ts"
import { listAccountsMax, listTagsMax } from "../instance/ContentLimits.ts"
import { NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import type { Listed } from "../statuses/Interactions.ts"
import { eitherBlocks } from "../visibility/HiddenAccounts.ts"
import { lockAccount } from "../visibility/Pairs.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"

const listedRows = rowsOf(Schema.Struct({ cursor: Schema.BigInt, accountId: Schema.BigInt }))
const listRows = rowsOf(Schema.Struct({ id: Schema.BigInt, exclusive: Schema.Boolean }))
const blockedRows = rowsOf(Schema.Struct({ blocked: Schema.Boolean }))

/** Members of lists: hashtags and accounts, followed or not. Lists are accessible to their owners only. */
export class ListMembers extends Context.Service<ListMembers, {
  /** Returns the accounts in a list, except suspended ones. */
  readonly accounts: (
    owner: AccountId,
    list: bigint,
    page: Page
  ) => Effect.Effect<ReadonlyArray<Listed>, RecordNotFound>
  /** Adds all `accounts`, or none and fails. They must exist. */
  readonly addAccounts: (
    owner: AccountId,
    list: bigint,
    accounts: ReadonlyArray<AccountId>
  ) => Effect.Effect<void, NotAllowed | RecordNotFound | Unprocessable>
  readonly removeAccounts: (
    owner: AccountId,
    list: bigint,
    accounts: ReadonlyArray<bigint>
  ) => Effect.Effect<void, RecordNotFound>
  /** Returns ids of hashtags, in the order in which they were added. */
  readonly tags: (owner: AccountId, list: bigint) => Effect.Effect<ReadonlyArray<bigint>, RecordNotFound>
  /** Adds hashtags; existing ones are kept. */
  readonly addTags: (
    owner: AccountId,
    list: bigint,
    tagIds: ReadonlyArray<bigint>
  ) => Effect.Effect<void, RecordNotFound | Unprocessable>
  readonly removeTags: (
    owner: AccountId,
    list: bigint,
    names: ReadonlyArray<string>
  ) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/social/ListMembers") {
  static readonly layerNoDeps = Layer.effect(
    ListMembers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feeds = yield* ListFeeds

      const owned = Effect.fnUntraced(function*(owner: AccountId, id: bigint) {
        const [row] = yield* listRows(sql`SELECT id, exclusive FROM lists WHERE id = ${id} AND account_id = ${owner}`)
        return row ?? (yield* new RecordNotFound())
      })
      /** Changes a list and invalidates its feeds; an owner's changes are serialised. */
      const change = <E>(
        owner: AccountId,
        list: bigint,
        work: Effect.Effect<ReadonlyArray<unknown>, E | SqlError>
      ) =>
        Effect.gen(function*() {
          yield* lockAccount(sql, owner)
          const found = yield* owned(owner, list)
          if ((yield* work).length > 0) yield* feeds.changed(owner, found)
        }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
      const requireOwned = (owner: AccountId, list: bigint) =>
        Effect.catchTag(owned(owner, list), "SqlError", Effect.die)

      const add = Effect.fnUntraced(function*(table: string, column: string, list: bigint, ids: ReadonlyArray<bigint>) {
        const now = yield* Clock.currentTimeMillis
        return yield* idRows(sql`INSERT INTO ${sql(table)} (id, list_id, ${sql(column)})
          SELECT next_id(${now}), ${list}::bigint, given.id FROM unnest(${ids}::bigint[]) AS given (id)
          ON CONFLICT DO NOTHING RETURNING id`)
      })
      const count = (table: string, list: bigint) =>
        Effect.map(idRows(sql`SELECT id FROM ${sql(table)} WHERE list_id = ${list}`), (rows) => rows.length)

      return ListMembers.of({
        accounts: traced("ListMembers.accounts")(function*(owner: AccountId, list: bigint, page: Page) {
          yield* requireOwned(owner, list)
          const { tail, where } = clauses(sql, "m.id", page)
          const rows = yield* listedRows(sql`SELECT m.id AS cursor, m.account_id FROM list_accounts m
            WHERE m.list_id = ${list} AND ${where} AND NOT ${isSuspended(sql, sql`m.account_id`)} ${tail}`)
            .pipe(Effect.orDie)
          return newestFirst(page, rows)
        }),
        addAccounts: traced("ListMembers.addAccounts")(
          (owner: AccountId, list: bigint, accounts: ReadonlyArray<AccountId>) =>
            change(
              owner,
              list,
              Effect.gen(function*() {
                const [first] = yield* blockedRows(
                  sql`SELECT true AS blocked FROM unnest(${accounts}::bigint[]) AS other (id)
                  WHERE ${eitherBlocks(sql, sql`${owner}::bigint`, sql`other.id`)} LIMIT 1`
                )
                if (first !== undefined) return yield* new NotAllowed()
                const before = yield* count("list_accounts", list)
                if (before + accounts.length > listAccountsMax) {
                  return yield* validationFailed("You have reached the maximum number of accounts in a list")
                }
                const added = yield* add("list_accounts", "account_id", list, accounts)
                if (added.length < accounts.length) return yield* validationFailed("Account is already on the list")
                return added
              })
            )
        ),
        removeAccounts: traced("ListMembers.removeAccounts")(
          (owner: AccountId, list: bigint, accounts: ReadonlyArray<bigint>) =>
            change(
              owner,
              list,
              idRows(sql`DELETE FROM list_accounts WHERE list_id = ${list}
                AND account_id = ANY (${accounts}::bigint[]) RETURNING id`)
            )
        ),
        tags: traced("ListMembers.tags")(function*(owner: AccountId, list: bigint) {
          yield* requireOwned(owner, list)
          const rows = yield* Effect.orDie(idRows(sql`SELECT tag_id AS id FROM list_tags
            WHERE list_id = ${list} ORDER BY list_tags.id LIMIT ${rowsMax(sql, listTagsMax)}`))
          return rows.map(({ id }) => id)
        }),
        addTags: traced("ListMembers.addTags")((owner: AccountId, list: bigint, tagIds: ReadonlyArray<bigint>) =>
          change(
            owner,
            list,
            Effect.gen(function*() {
              const added = yield* add("list_tags", "tag_id", list, tagIds)
              if ((yield* count("list_tags", list)) > listTagsMax) {
                return yield* validationFailed("You have reached the maximum number of hashtags in a list")
              }
              return added
            })
          )
        ),
        removeTags: traced("ListMembers.removeTags")((owner: AccountId, list: bigint, names: ReadonlyArray<string>) =>
          change(
            owner,
            list,
            idRows(sql`DELETE FROM list_tags m USING tags t WHERE m.list_id = ${list} AND t.id = m.tag_id
              AND t.name = ANY (${names}::text[]) RETURNING m.id`)
          )
        )
      })
    })
  )
  static readonly layer = ListMembers.layerNoDeps.pipe(Layer.provide(ListFeeds.layer))
}
