import { Schema } from "effect"
import { Timestamptz } from "../database/Rows.ts"

/**
 * Maximum characters of a collection's name and description, and maximum accounts in it (limits-and-rates.md section
 * 1).
 */
export const collectionNameMax = 40
export const collectionDescriptionMax = 100
export const collectionItemsMax = 25

/** Consent of an account to its place in a collection. */
export const ItemState = Schema.Literals(["pending", "accepted", "rejected", "revoked"])

/** An account in a collection, or a former one. */
export const CollectionItem = Schema.Struct({
  id: Schema.BigInt,
  collectionId: Schema.BigInt,
  accountId: Schema.NullOr(Schema.BigInt),
  state: ItemState,
  createdAt: Timestamptz
})
export type CollectionItem = typeof CollectionItem.Type

/** A collection without its items. */
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
  /** Hashtag as first written. */
  tagName: Schema.NullOr(Schema.String),
  createdAt: Timestamptz,
  updatedAt: Timestamptz
})
export type StoredCollection = typeof StoredCollection.Type

/** A collection with the items that the viewer may see, in order. */
export interface CollectionRecord extends StoredCollection {
  readonly items: ReadonlyArray<CollectionItem>
}

/** An owner's changes of a collection; absent fields are kept. */
export const CollectionChange = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  language: Schema.optionalKey(Schema.NullOr(Schema.String)),
  sensitive: Schema.optionalKey(Schema.Boolean),
  discoverable: Schema.optionalKey(Schema.Boolean),
  /** Null or empty for no hashtag. */
  tagName: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export type CollectionChange = typeof CollectionChange.Type
