import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { normalise } from "../html/HashtagNames.ts"
import { exceeds } from "../html/Text.ts"
import { languageTag } from "../instance/Languages.ts"
import { type ClientError, NotAllowed, RecordNotFound, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { isTagName } from "../statuses/Tags.ts"
import { bounded } from "../text/BoundedText.ts"
import { type CollectionChange, collectionDescriptionMax, collectionItemsMax, collectionNameMax } from "./Collection.ts"
import { mayFeature } from "./FeaturePolicy.ts"

const memberRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, local: Schema.Boolean }))
const quotaRows = rowsOf(Schema.Struct({ limit: Schema.Int, count: Schema.Int }))
const addedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt, local: Schema.Boolean }))
const itemRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, accountId: Schema.NullOr(Schema.BigInt), uri: Schema.NullOr(Schema.String) })
)
const changedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, significant: Schema.Boolean }))

type Refused = ClientError | SqlError

/** An account that was added to a collection, or asked for consent. */
interface AddedItem {
  readonly id: bigint
  readonly accountId: bigint
  /** True for accounts of this server, which consent by their settings; others are asked. */
  readonly local: boolean
}

/** Writes collections of local accounts, in the transaction of the owner's command. */
export class CollectionWriter extends Context.Service<CollectionWriter, {
  readonly create: (owner: bigint, change: CollectionChange) => Effect.Effect<bigint, Refused>
  /** Returns true if members are to be notified of the change; undefined if nothing changed. */
  readonly change: (owner: bigint, id: bigint, change: CollectionChange) => Effect.Effect<boolean | undefined, Refused>
  /** Returns the accounts that were in it. */
  readonly remove: (owner: bigint, id: bigint) => Effect.Effect<ReadonlyArray<bigint>, Refused>
  readonly add: (
    owner: bigint,
    id: bigint,
    targets: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<AddedItem>, Refused>
  /** Removes an item; returns its account. */
  readonly take: (owner: bigint, id: bigint, itemId: bigint) => Effect.Effect<bigint | undefined, Refused>
  /** Removes the featured account from a collection of any server, by its own decision. Returns the owner if local. */
  readonly revoke: (accountId: bigint, id: bigint, itemId: bigint) => Effect.Effect<bigint | undefined, Refused>
  /** Returns the local accounts in a collection. */
  readonly members: (id: bigint) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
}>()("murmuration/services/collections/CollectionWriter") {
  static readonly layer = Layer.effect(
    CollectionWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

      /** Locks the collection; an account's commands run one at a time. */
      const owned = Effect.fnUntraced(function*(owner: bigint, id: bigint) {
        const [row] = yield* idRows(sql`SELECT id FROM collections WHERE id = ${id} AND account_id = ${owner} AND local
          FOR UPDATE`)
        // Exists and may be visible, but belongs to another account.
        if (row !== undefined) return
        const known = yield* idRows(sql`SELECT id FROM collections WHERE id = ${id}`)
        return yield* known.length === 0 ? new RecordNotFound() : new NotAllowed()
      })

      const tagOf = Effect.fnUntraced(function*(name: string | null) {
        const tag = (name ?? "").trim().replace(/^[#＃]/, "")
        if (tag === "") return null
        const at = yield* now
        const found = singleRow(
          yield* idRows(sql`INSERT INTO tags (id, name, display_name, created_at)
            VALUES (next_id(${at.getTime()}), ${normalise(bounded(tag))}, ${tag}, ${at})
            ON CONFLICT (name) DO UPDATE SET display_name = tags.display_name RETURNING id`)
        )
        return found.id
      })

      const create = traced("CollectionWriter.create")(function*(owner: bigint, change: CollectionChange) {
        yield* checked({ name: "", ...change })
        const [quota] = yield* quotaRows(sql`SELECT r.collection_limit AS limit,
            (SELECT count(*)::int FROM collections c WHERE c.account_id = u.account_id) AS count
          FROM users u JOIN roles r ON r.id = u.role_id WHERE u.account_id = ${owner}`)
        if (quota === undefined || quota.count >= quota.limit) {
          return yield* validationFailed(`You cannot have more than ${quota?.limit ?? 0} collections`)
        }
        const at = yield* now
        const { description = "", discoverable = true, language = null, name = "", sensitive = false } = change
        const inserted = singleRow(
          yield* idRows(sql`INSERT INTO collections (id, account_id, local, name, description, language, sensitive,
              discoverable, tag_id, created_at, updated_at)
            VALUES (next_id(${at.getTime()}), ${owner}, true, ${name.trim()}, ${description.trim()}, ${
            languageTag(language ?? "") ?? null
          },
              ${sensitive}, ${discoverable}, ${yield* tagOf(change.tagName ?? null)}, ${at}, ${at}) RETURNING id`)
        )
        return inserted.id
      })

      const change = traced("CollectionWriter.change")(function*(owner: bigint, id: bigint, given: CollectionChange) {
        yield* owned(owner, id)
        yield* checked(given)
        const columnsToSet = {
          ...(given.name !== undefined && { name: given.name.trim() }),
          ...(given.description !== undefined && { description: given.description.trim() }),
          ...(given.language !== undefined && { language: languageTag(given.language ?? "") ?? null }),
          ...(given.sensitive !== undefined && { sensitive: given.sensitive }),
          ...(given.discoverable !== undefined && { discoverable: given.discoverable }),
          ...(given.tagName !== undefined && { tagId: yield* tagOf(given.tagName) })
        }
        const columns = Object.keys(columnsToSet)
        if (columns.length === 0) return undefined
        const at = yield* now
        const [changed] = yield* changedRows(sql`
          WITH before AS MATERIALIZED (SELECT * FROM collections WHERE id = ${id}),
          changed AS (UPDATE collections SET ${
          sql.update({ ...columnsToSet, updatedAt: at })
        } WHERE id = ${id} RETURNING *)
          SELECT c.id, (c.name, c.description, c.sensitive, coalesce(c.tag_id, 0))
              IS DISTINCT FROM (b.name, b.description, b.sensitive, coalesce(b.tag_id, 0)) AS significant
          FROM changed c, before b WHERE (c.name, c.description, c.language, c.sensitive, c.discoverable, c.tag_id)
            IS DISTINCT FROM (b.name, b.description, b.language, b.sensitive, b.discoverable, b.tag_id)`)
        return changed?.significant
      })

      const remove = traced("CollectionWriter.remove")(function*(owner: bigint, id: bigint) {
        yield* owned(owner, id)
        const held = yield* memberRows(sql`SELECT i.account_id, a.domain IS NULL AS local FROM collection_items i
          JOIN accounts a ON a.id = i.account_id WHERE i.collection_id = ${id}`)
        yield* sql`DELETE FROM notifications n USING collection_items i WHERE i.collection_id = ${id}
          AND n.account_id = i.account_id AND n.from_account_id = ${owner} AND n.report_id = ${id}
          AND n.type IN ('added_to_collection', 'collection_update')`
        yield* sql`DELETE FROM collections WHERE id = ${id}`
        return held.map(({ accountId }) => accountId)
      })

      const add = traced("CollectionWriter.add")(
        function*(owner: bigint, id: bigint, targets: ReadonlyArray<bigint>) {
          yield* owned(owner, id)
          const targetIds = [...new Set(targets)]
          const known = yield* idRows(sql`SELECT id FROM accounts WHERE id = ANY (${targetIds}::bigint[])`)
          if (known.length < targetIds.length) return yield* new RecordNotFound()
          const allowed = yield* idRows(sql`SELECT a.id FROM accounts a WHERE a.id = ANY (${targetIds}::bigint[])
            AND ${mayFeature(sql, sql`${owner}::bigint`)}`)
          if (allowed.length < targetIds.length) return yield* new NotAllowed()
          const held = yield* memberRows(sql`SELECT i.account_id, true AS local FROM collection_items i
            WHERE i.collection_id = ${id} AND i.state IN ('pending', 'accepted')`)
          if (held.some(({ accountId }) => targetIds.includes(accountId))) {
            return yield* validationFailed("Account has already been taken")
          }
          if (held.length + targetIds.length > collectionItemsMax) {
            return yield* validationFailed(
              `Collection items are too many, no more than ${collectionItemsMax} are allowed`
            )
          }
          const at = yield* now
          // An account that was rejected or revoked earlier may be asked again.
          yield* sql`DELETE FROM collection_items WHERE collection_id = ${id} AND account_id = ANY (${targetIds}::bigint[])`
          return yield* addedRows(sql`
            WITH given AS (SELECT g.account_id, g.place, a.domain IS NULL AS local
              FROM unnest(${targetIds}::bigint[]) WITH ORDINALITY g (account_id, place) JOIN accounts a ON a.id = g.account_id)
            INSERT INTO collection_items (id, collection_id, account_id, state, position, created_at, updated_at)
            SELECT next_id(${at.getTime()}), ${id}, account_id, CASE WHEN local THEN 'accepted' ELSE 'pending' END,
              place + coalesce((SELECT max(position) FROM collection_items WHERE collection_id = ${id}), 0), ${at}, ${at}
            FROM given ORDER BY place
            RETURNING id, account_id, state = 'accepted' AS local`)
        }
      )

      const taken = Effect.fnUntraced(function*(owner: bigint, id: bigint, accountId: bigint) {
        yield* sql`DELETE FROM notifications WHERE account_id = ${accountId} AND from_account_id = ${owner}
          AND report_id = ${id} AND type IN ('added_to_collection', 'collection_update')`
      })

      const take = traced("CollectionWriter.take")(function*(owner: bigint, id: bigint, itemId: bigint) {
        yield* owned(owner, id)
        const [removed] = yield* itemRows(sql`DELETE FROM collection_items
          WHERE id = ${itemId} AND collection_id = ${id} RETURNING id, account_id, uri`)
        if (removed === undefined) return yield* new RecordNotFound()
        if (removed.accountId !== null) yield* taken(owner, id, removed.accountId)
        return removed.accountId ?? undefined
      })

      const revoke = traced("CollectionWriter.revoke")(function*(accountId: bigint, id: bigint, itemId: bigint) {
        const known = yield* itemRows(sql`SELECT id, account_id, uri FROM collection_items
          WHERE id = ${itemId} AND collection_id = ${id} FOR UPDATE`)
        if (known.length === 0) return yield* new RecordNotFound()
        if (known.every((item) => item.accountId !== accountId)) return yield* new NotAllowed()
        yield* sql`UPDATE collection_items SET state = 'revoked', updated_at = ${yield* now} WHERE id = ${itemId}`
        const [collection] = yield* memberRows(sql`SELECT account_id, local FROM collections WHERE id = ${id}`)
        if (collection === undefined) return undefined
        yield* taken(collection.accountId, id, accountId)
        return collection.local ? collection.accountId : undefined
      })

      return CollectionWriter.of({
        add,
        change,
        create,
        members: traced("CollectionWriter.members")((id) =>
          Effect.map(
            memberRows(
              sql`SELECT i.account_id, true AS local FROM collection_items i JOIN accounts a ON a.id = i.account_id
              WHERE i.collection_id = ${id} AND i.state = 'accepted' AND a.domain IS NULL`
            ),
            (rows) => rows.map(({ accountId }) => accountId)
          )
        ),
        remove,
        revoke,
        take
      })
    })
  )
}

/** Fails for fields that are too long or invalid. */
const checked = Effect.fnUntraced(function*({ description = "", language, name, tagName }: CollectionChange) {
  const problems = [
    ...(name !== undefined && name.trim() === "" ? ["Name can't be blank"] : []),
    ...(name !== undefined && exceeds(name.trim(), collectionNameMax)
      ? [`Name is too long (maximum is ${collectionNameMax} characters)`]
      : []),
    ...(exceeds(description.trim(), collectionDescriptionMax)
      ? [`Description is too long (maximum is ${collectionDescriptionMax} characters)`]
      : []),
    ...(language && languageTag(language) === undefined ? ["Language is invalid"] : []),
    ...(tagName && !isTagName(tagName.trim().replace(/^[#＃]/, "")) ? ["Tag is invalid"] : [])
  ]
  if (problems.length > 0) return yield* validationFailed(...problems)
})
