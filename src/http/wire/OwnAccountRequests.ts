import { Schema } from "effect"
import { Id } from "./Common.ts"
import { list, Text } from "./Params.ts"

const text = Schema.optionalKey(Schema.NullOr(Text))

/** `POST /api/v1/accounts/delete` (GoToSocial) */
export const AccountDeletion = Schema.Struct({ password: text })

/** `POST /api/v1/user/password_change` (GoToSocial) */
export const PasswordChange = Schema.Struct({ oldPassword: text, newPassword: text }).pipe(
  Schema.encodeKeys({ oldPassword: "old_password", newPassword: "new_password" })
)

/** `POST /api/v1/user/email_change` (GoToSocial) */
export const EmailChange = Schema.Struct({ password: text, newEmail: text }).pipe(
  Schema.encodeKeys({ newEmail: "new_email" })
)

/** `POST /api/v1/accounts/alias` (GoToSocial): all aliases, as actor ids. */
export const AccountAliases = Schema.Struct({
  alsoKnownAsUris: Schema.optionalKey(list(Schema.String))
}).pipe(Schema.encodeKeys({ alsoKnownAsUris: "also_known_as_uris" }))

/** `POST /api/v1/accounts/move` (GoToSocial); `moved_to_uri` is the actor id of the other account. */
export const AccountMove = Schema.Struct({ password: text, movedToUri: text }).pipe(
  Schema.encodeKeys({ movedToUri: "moved_to_uri" })
)

/** The user of a changed address; `unconfirmed_email` replaces `email` once it is confirmed. */
export const OwnUser = Schema.Struct({
  id: Id,
  email: Schema.String,
  unconfirmed_email: Schema.NullOr(Schema.String),
  approved: Schema.Boolean,
  disabled: Schema.Boolean
}).annotate({ identifier: "OwnUser" })
export type OwnUser = typeof OwnUser.Type
