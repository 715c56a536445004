import { Schema } from "effect"
import type { NotificationType } from "../notifications/NotificationTypes.ts"
import type { Permission } from "../staff/Permissions.ts"

/** Types of notifications that members may have e-mailed, in the order of the settings. */
export const emailedTypes = [
  "mention",
  "quote",
  "follow",
  "follow_request",
  "favourite",
  "reblog",
  "status",
  "admin.report"
] as const satisfies ReadonlyArray<NotificationType>
export const EmailedType = Schema.Literals(emailedTypes)
export type EmailedType = typeof EmailedType.Type

/** Time without a request after which a user is away and gets e-mails, and minimum time between them; milliseconds. */
export const awayMillis = 3_600_000

/** E-mails to staff, which staff get unless they decline them. */
const staffEmails = ["sign_ups", "appeals", "trends"] as const
export const StaffEmail = Schema.Literals(staffEmails)
export type StaffEmail = typeof StaffEmail.Type

/** Permission that the recipients of e-mails to staff have. */
export const neededFor: Readonly<Record<StaffEmail | "admin.report", Permission>> = {
  "sign_ups": "manageUsers",
  appeals: "manageAppeals",
  trends: "manageTaxonomies",
  "admin.report": "manageReports"
}

/** E-mails that an unsubscribe link ends: those about notifications, or one kind of those to staff. */
export type EmailList = "notifications" | StaffEmail
export const emailLists: ReadonlyArray<EmailList> = ["notifications", ...staffEmails]
