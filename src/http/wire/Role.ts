import { Schema } from "effect"
import { Count, Id } from "./Common.ts"

/** A highlighted role, shown next to an account's name; `color` is `#hex` or empty. */
export const AccountRole = Schema.Struct({ id: Id, name: Schema.String, color: Schema.String })
export type AccountRole = typeof AccountRole.Type

/** The user's own role; `permissions` is a decimal bitmask that includes everybody's permissions. */
export const Role = Schema.Struct({
  id: Id,
  name: Schema.String,
  permissions: Schema.String,
  color: Schema.String,
  highlighted: Schema.Boolean,
  collection_limit: Count
})
export type Role = typeof Role.Type
