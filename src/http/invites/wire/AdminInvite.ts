import { Schema } from "effect"
import { Account } from "../../wire/Account.ts"
import { Id, Timestamp, Url } from "../../wire/Common.ts"
import { Flag, Integer } from "../../wire/Params.ts"

/** An invite; `valid` is true if it can be used now. */
export const AdminInvite = Schema.Struct({
  id: Id,
  code: Schema.String,
  url: Url,
  max_uses: Schema.NullOr(Schema.Int),
  uses: Schema.Int,
  expires_at: Schema.NullOr(Timestamp),
  autofollow: Schema.Boolean,
  valid: Schema.Boolean,
  created_at: Timestamp,
  account: Account
}).annotate({ identifier: "Admin::Invite" })
export type AdminInvite = typeof AdminInvite.Type

/** `POST /api/v1/admin/invites`; absent or empty numbers mean no limit, `expires_in` is in seconds. */
export const InviteWrite = Schema.Struct({
  maxUses: Schema.optionalKey(Integer),
  expiresIn: Schema.optionalKey(Integer),
  autofollow: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ maxUses: "max_uses", expiresIn: "expires_in" }))
