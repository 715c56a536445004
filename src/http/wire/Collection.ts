import { Schema } from "effect"
import { type CollectionChange, ItemState } from "../../services/collections/Collection.ts"
import { Account } from "./Account.ts"
import { Count, Html, Id, Timestamp, Url } from "./Common.ts"
import { Flag, list, Text } from "./Params.ts"
import { ShallowTag } from "./Tag.ts"

/** An account in a collection; one that refused or withdrew is no longer named. */
export const CollectionItem = Schema.Struct({
  id: Id,
  state: ItemState,
  created_at: Timestamp,
  account_id: Schema.optionalKey(Id)
}).annotate({ identifier: "CollectionItem" })
export type CollectionItem = typeof CollectionItem.Type

export const Collection = Schema.Struct({
  id: Id,
  uri: Url,
  name: Schema.String,
  description: Schema.NullOr(Html),
  language: Schema.NullOr(Schema.String),
  account_id: Id,
  local: Schema.Boolean,
  sensitive: Schema.Boolean,
  discoverable: Schema.Boolean,
  url: Schema.NullOr(Url),
  item_count: Count,
  created_at: Timestamp,
  updated_at: Timestamp,
  tag: Schema.NullOr(ShallowTag),
  items: Schema.Array(CollectionItem)
}).annotate({ identifier: "Collection" })
export type Collection = typeof Collection.Type

export const WrappedCollection = Schema.Struct({ collection: Collection })
export type WrappedCollection = typeof WrappedCollection.Type
export const WrappedCollections = Schema.Struct({ collections: Schema.Array(Collection) })
export type WrappedCollections = typeof WrappedCollections.Type
export const WrappedItem = Schema.Struct({ collection_item: CollectionItem })
export type WrappedItem = typeof WrappedItem.Type
/** `accounts` begins with the owner. */
export const CollectionWithAccounts = Schema.Struct({ collection: Collection, accounts: Schema.Array(Account) })
export type CollectionWithAccounts = typeof CollectionWithAccounts.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
const flag = Schema.optionalKey(Flag)
const fields = { name: text, description: text, language: text, sensitive: flag, discoverable: flag, tagName: text }
const keys = { tagName: "tag_name" } as const

/** `POST /api/v1/collections` */
export const NewCollection = Schema.Struct({ ...fields, accountIds: Schema.optionalKey(list(Text)) }).pipe(
  Schema.encodeKeys({ ...keys, accountIds: "account_ids" })
)
/** `PATCH /api/v1/collections/:id` */
export const CollectionWrite = Schema.Struct(fields).pipe(Schema.encodeKeys(keys))
/** `POST /api/v1/collections/:collection_id/items` */
export const NewItem = Schema.Struct({ accountId: text }).pipe(Schema.encodeKeys({ accountId: "account_id" }))

/**
 * Returns the change that a request makes to a collection; fields that are absent, or empty where that is meaningless,
 * are unchanged.
 */
export const changeOf = (given: typeof CollectionWrite.Type): CollectionChange => ({
  ...(given.name !== undefined && { name: given.name ?? "" }),
  ...(given.description !== undefined && { description: given.description ?? "" }),
  ...(given.language !== undefined && { language: given.language }),
  ...(given.sensitive !== undefined && { sensitive: given.sensitive }),
  ...(given.discoverable !== undefined && { discoverable: given.discoverable }),
  ...(given.tagName !== undefined && { tagName: given.tagName })
})
