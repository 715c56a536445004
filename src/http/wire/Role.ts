import { Schema } from "effect"
import { Count, Id } from "./Common.ts"

/** A highlighted role, as others see it beside a name; `color` is `#hex` or empty. */
export const AccountRole = Schema.Struct({ id: Id, name: Schema.String, color: Schema.String })
export type AccountRole = typeof AccountRole.Type

/** The own role; `permissions` is a decimal bitmask, what everybody may do included. */
export const Role = Schema.Struct({
  id: Id,
  name: Schema.String,
  permissions: Schema.String,
  color: Schema.String,
  highlighted: Schema.Boolean,
  collection_limit: Count
})
export type Role = typeof Role.Type
