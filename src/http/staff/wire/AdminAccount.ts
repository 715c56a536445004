import { Schema } from "effect"
import { Account } from "../../wire/Account.ts"
import { Id, Timestamp } from "../../wire/Common.ts"
import { pageFields, pageKeys } from "../../wire/PageQuery.ts"
import { Flag, list, Text } from "../../wire/Params.ts"
import { Role } from "../../wire/Role.ts"

const AdminIp = Schema.Struct({ ip: Schema.String, used_at: Timestamp }).annotate({ identifier: "Admin_Ip" })

/** An account for moderators; fields that only local users have are null for others. */
export const AdminAccount = Schema.Struct({
  id: Id,
  username: Schema.String,
  domain: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  email: Schema.NullOr(Schema.String),
  ip: Schema.NullOr(Schema.String),
  ips: Schema.Array(AdminIp),
  locale: Schema.NullOr(Schema.String),
  invite_request: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Role),
  confirmed: Schema.NullOr(Schema.Boolean),
  approved: Schema.NullOr(Schema.Boolean),
  disabled: Schema.NullOr(Schema.Boolean),
  silenced: Schema.Boolean,
  suspended: Schema.Boolean,
  sensitized: Schema.Boolean,
  account: Account,
  created_by_application_id: Schema.optionalKey(Id),
  invited_by_account_id: Schema.optionalKey(Id)
}).annotate({ identifier: "Admin_Account" })
export type AdminAccount = typeof AdminAccount.Type

const flag = Schema.optionalKey(Flag)
const text = Schema.optionalKey(Text)
const shared = { username: text, displayName: text, byDomain: text, email: text, ip: text, invitedBy: text }
const sharedKeys = { displayName: "display_name", byDomain: "by_domain", invitedBy: "invited_by" } as const

/** `GET /api/v1/admin/accounts` */
export const AdminAccountsQuery = Schema.Struct({
  ...pageFields,
  ...shared,
  local: flag,
  remote: flag,
  active: flag,
  pending: flag,
  disabled: flag,
  sensitized: flag,
  silenced: flag,
  suspended: flag,
  staff: flag
}).pipe(Schema.encodeKeys({ ...pageKeys, ...sharedKeys }))
export type AdminAccountsQuery = typeof AdminAccountsQuery.Type

/** `GET /api/v2/admin/accounts` */
export const AdminAccountsQueryV2 = Schema.Struct({
  ...pageFields,
  ...shared,
  origin: text,
  status: text,
  permissions: text,
  roleIds: Schema.optionalKey(list(Text))
}).pipe(Schema.encodeKeys({ ...pageKeys, ...sharedKeys, roleIds: "role_ids" }))
export type AdminAccountsQueryV2 = typeof AdminAccountsQueryV2.Type

/** `POST /api/v1/admin/status_actions` */
export const StatusActionWrite = Schema.Struct({
  type: text,
  statusIds: Schema.optionalKey(list(Text)),
  collectionIds: Schema.optionalKey(list(Text)),
  reportId: Schema.optionalKey(Schema.NullOr(Text)),
  text: Schema.optionalKey(Schema.NullOr(Text)),
  sendEmailNotification: flag
}).pipe(Schema.encodeKeys({
  statusIds: "status_ids",
  collectionIds: "collection_ids",
  reportId: "report_id",
  sendEmailNotification: "send_email_notification"
}))

/** `POST /api/v1/admin/accounts/:id/action` */
export const AccountActionWrite = Schema.Struct({
  type: text,
  reportId: Schema.optionalKey(Schema.NullOr(Text)),
  warningPresetId: Schema.optionalKey(Schema.NullOr(Text)),
  text: Schema.optionalKey(Schema.NullOr(Text)),
  sendEmailNotification: flag
}).pipe(Schema.encodeKeys({
  reportId: "report_id",
  warningPresetId: "warning_preset_id",
  sendEmailNotification: "send_email_notification"
}))

/** `POST /api/v1/admin/accounts/:id/change_email` */
export const EmailWrite = Schema.Struct({ email: text })

/** `POST /api/v1/admin/accounts/:id/role`; -99 is everybody's role. */
export const RoleOfAccount = Schema.Struct({ roleId: text })
  .pipe(Schema.encodeKeys({ roleId: "role_id" }))
