import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { ListFeeds } from "../feeds/ListFeeds.ts"
import { listsMax } from "../instance/ContentLimits.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { lockAccount } from "../visibility/Pairs.ts"

/** Maximum characters of a title (limits-and-rates.md section 1). */
const titleCharactersMax = 256

/** Replies that a list shows, by whom they reply to. */
const RepliesPolicy = Schema.Literals(["followed", "list", "none"])
export type RepliesPolicy = typeof RepliesPolicy.Type

/** A list of an account. */
const ListRecord = Schema.Struct({
  id: Schema.BigInt,
  title: Schema.String,
  repliesPolicy: RepliesPolicy,
  exclusive: Schema.Boolean
})
export type ListRecord = typeof ListRecord.Type
const listRows = rowsOf(ListRecord)

/** Requested changes of a list; absent fields are kept. The policy is validated here. */
interface ListChange {
  readonly title?: string | undefined
  readonly repliesPolicy?: string | undefined
  readonly exclusive?: boolean | undefined
}

/**
 * Lists are private: no other account sees their effects, so this service writes them outside of the owner's actor.
 * Lists are accessible to their owners only.
 */
export class OwnedLists extends Context.Service<OwnedLists, {
  readonly of: (owner: AccountId) => Effect.Effect<ReadonlyArray<ListRecord>>
  /** Returns the lists that have an account as a member. */
  readonly holding: (owner: AccountId, member: AccountId) => Effect.Effect<ReadonlyArray<ListRecord>>
  readonly find: (owner: AccountId, id: bigint) => Effect.Effect<ListRecord, RecordNotFound>
  readonly create: (owner: AccountId, list: ListChange) => Effect.Effect<ListRecord, Unprocessable>
  readonly change: (
    owner: AccountId,
    id: bigint,
    change: ListChange
  ) => Effect.Effect<ListRecord, RecordNotFound | Unprocessable>
  readonly remove: (owner: AccountId, id: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/social/OwnedLists") {
  static readonly layerNoDeps = Layer.effect(
    OwnedLists,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feeds = yield* ListFeeds
      const columns = sql.literal("id, title, replies_policy, exclusive")
      const inTransaction = <A, E>(work: Effect.Effect<A, E | SqlError>) =>
        Effect.catchTag(transaction(sql)(work), "SqlError", Effect.die)

      const owned = Effect.fnUntraced(function*(owner: AccountId, id: bigint) {
        const [row] = yield* listRows(sql`SELECT ${columns} FROM lists WHERE id = ${id} AND account_id = ${owner}`)
        return row ?? (yield* new RecordNotFound())
      })

      const create = Effect.fnUntraced(function*(owner: AccountId, given: ListChange) {
        const checked = yield* valid(given, { title: "", repliesPolicy: "list", exclusive: false })
        yield* lockAccount(sql, owner)
        const before = yield* idRows(sql`SELECT id FROM lists WHERE account_id = ${owner}`)
        if (before.length >= listsMax) {
          return yield* validationFailed("You have reached the maximum number of lists")
        }
        const now = yield* Clock.currentTimeMillis
        return singleRow(
          yield* listRows(sql`INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
            VALUES (next_id(${now}), ${owner}, ${checked.title}, ${checked.repliesPolicy}, ${checked.exclusive})
            RETURNING ${columns}`)
        )
      })

      const change = Effect.fnUntraced(function*(owner: AccountId, id: bigint, given: ListChange) {
        yield* lockAccount(sql, owner)
        const before = yield* owned(owner, id)
        const checked = yield* valid(given, before)
        yield* sql`UPDATE lists SET title = ${checked.title}, replies_policy = ${checked.repliesPolicy},
          exclusive = ${checked.exclusive} WHERE id = ${id}`
        if (before.repliesPolicy !== checked.repliesPolicy || before.exclusive !== checked.exclusive) {
          yield* feeds.changed(owner, { id, exclusive: before.exclusive !== checked.exclusive })
        }
        return { id, ...checked }
      })

      const remove = Effect.fnUntraced(function*(owner: AccountId, id: bigint) {
        yield* lockAccount(sql, owner)
        const list = yield* owned(owner, id)
        yield* sql`DELETE FROM lists WHERE id = ${id}`
        yield* feeds.changed(owner, list)
      })

      return OwnedLists.of({
        of: traced("OwnedLists.of")((owner: AccountId) =>
          Effect.orDie(listRows(sql`SELECT ${columns} FROM lists WHERE account_id = ${owner} ORDER BY id`))
        ),
        holding: traced("OwnedLists.holding")((owner: AccountId, member: AccountId) =>
          Effect.orDie(listRows(sql`SELECT ${columns} FROM lists l WHERE account_id = ${owner} AND EXISTS (
            SELECT FROM list_accounts m WHERE m.list_id = l.id AND m.account_id = ${member}) ORDER BY id`))
        ),
        find: traced("OwnedLists.find")((owner: AccountId, id: bigint) =>
          Effect.catchTag(owned(owner, id), "SqlError", Effect.die)
        ),
        create: traced("OwnedLists.create")((owner: AccountId, list: ListChange) => inTransaction(create(owner, list))),
        change: traced("OwnedLists.change")((owner: AccountId, id: bigint, given: ListChange) =>
          inTransaction(change(owner, id, given))
        ),
        remove: traced("OwnedLists.remove")((owner: AccountId, id: bigint) => inTransaction(remove(owner, id)))
      })
    })
  )
  static readonly layer = OwnedLists.layerNoDeps.pipe(Layer.provide(ListFeeds.layer))
}

const isPolicy = Schema.is(RepliesPolicy)

/** Validates a change, with `before` for absent fields. */
const valid = Effect.fnUntraced(function*(given: ListChange, before: Omit<ListRecord, "id">) {
  const { exclusive = before.exclusive, repliesPolicy = before.repliesPolicy, title = before.title } = given
  const problems: Array<string> = []
  if (title.trim() === "") problems.push("Title can't be blank")
  if (hasMoreCharacters(title, titleCharactersMax)) {
    problems.push(`Title is too long (maximum is ${titleCharactersMax} characters)`)
  }
  if (!isPolicy(repliesPolicy)) {
    return yield* validationFailed(...problems, "Replies policy is not included in the list")
  }
  return problems.length > 0 ? yield* validationFailed(...problems) : { title, repliesPolicy, exclusive }
})
