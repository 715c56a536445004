import { Schema } from "effect"
import { AppealState } from "../../services/moderation/Strike.ts"
import { Account } from "./Account.ts"
import { Id, Timestamp } from "./Common.ts"
import { AccountWarning } from "./Notification.ts"
import { pageFields, pageKeys } from "./PageQuery.ts"

/** An appeal with its strike. */
export const AdminAppeal = Schema.Struct({
  id: Id,
  state: AppealState,
  text: Schema.String,
  created_at: Timestamp,
  account: Account,
  warning: AccountWarning
}).annotate({ identifier: "Admin_Appeal" })
export type AdminAppeal = typeof AdminAppeal.Type

/** `GET /api/v1/admin/appeals` */
export const AppealsQuery = Schema.Struct({ ...pageFields, state: Schema.optionalKey(AppealState) }).pipe(
  Schema.encodeKeys(pageKeys)
)
