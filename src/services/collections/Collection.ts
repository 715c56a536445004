import { Schema } from "effect"
import { Timestamptz } from "../Rows.ts"

/** Characters of a collection's name and description, accounts in one (limits-and-rates.md section 1). */
export const collectionNameMax = 40
export const collectionDescriptionMax = 100
export const collectionItemsMax = 25

/** How it stands between a collection's owner and an account in it. */
export const ItemState = Schema.Literals(["pending", "accepted", "rejected", "revoked"])

/** An account in a collection, or one that was. */
export const CollectionItem = Schema.Struct({
  id: Schema.BigInt,
  collectionId: Schema.BigInt,
  accountId: Schema.NullOr(Schema.BigInt),
  state: ItemState,
  createdAt: Timestamptz
})
export type CollectionItem = typeof CollectionItem.Type

/** A collection by itself. */
export const StoredCollection = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  local: Schema.Boolean,
  uri: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  name: Schema.String,
  description: Schema.String,
  language: Schema.NullOr(Schema.String),
  sensitive: Schema.Boolean,
  discoverable: Schema.Boolean,
  /** As it was first written. */
  tagName: Schema.NullOr(Schema.String),
  createdAt: Timestamptz,
  updatedAt: Timestamptz
})
export type StoredCollection = typeof StoredCollection.Type

/** The same with those in it that somebody may see, in their order. */
export interface CollectionRecord extends StoredCollection {
  readonly items: ReadonlyArray<CollectionItem>
}

/** What an owner says of a collection; what is absent stays as it is. */
export const CollectionChange = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  language: Schema.optionalKey(Schema.NullOr(Schema.String)),
  sensitive: Schema.optionalKey(Schema.Boolean),
  discoverable: Schema.optionalKey(Schema.Boolean),
  /** Null or empty: about no hashtag. */
  tagName: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export type CollectionChange = typeof CollectionChange.Type
