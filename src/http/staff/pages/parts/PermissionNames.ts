import type { Messages } from "../../../../services/languages/Messages.ts"
import type { Permission } from "../../../../services/staff/Permissions.ts"

type Words = Pick<Messages, "say">

/** Labels of permissions. */
export const permissionNames: Readonly<Record<Permission, (words: Words) => string>> = {
  administrator: ({ say }) => say("Administrator: all permissions, present and future"),
  viewDevops: ({ say }) => say("View system metrics"),
  viewAuditLog: ({ say }) => say("View audit log"),
  viewDashboard: ({ say }) => say("View dashboard and statistics"),
  manageReports: ({ say }) => say("Manage reports and act on reported posts and accounts"),
  manageFederation: ({ say }) => say("Manage federation: block, allow and pause servers"),
  manageSettings: ({ say }) => say("Manage server settings and registrations"),
  manageBlocks: ({ say }) => say("Manage blocks of email addresses, IP addresses and usernames"),
  manageTaxonomies: ({ say }) => say("Manage trends and hashtags"),
  manageAppeals: ({ say }) => say("Manage appeals"),
  manageUsers: ({ say }) => say("Manage accounts and approve sign-ups"),
  manageInvites: ({ say }) => say("Manage all invites"),
  manageRules: ({ say }) => say("Manage rules"),
  manageAnnouncements: ({ say }) => say("Manage announcements"),
  manageCustomEmojis: ({ say }) => say("Manage custom emoji"),
  manageWebhooks: ({ say }) => say("Manage webhooks"),
  inviteUsers: ({ say }) => say("Invite people"),
  manageRoles: ({ say }) => say("Manage and assign roles below their own"),
  manageUserAccess: ({ say }) => say("Reset others' two-factor sign-in, email address and password"),
  deleteUserData: ({ say }) => say("Delete other people's data immediately"),
  viewFeeds: ({ say }) => say("View timelines that are disabled for others"),
  inviteBypassApproval: ({ say }) => say("Invite people without approval"),
  manageEmailSubscriptions: ({ say }) => say("Offer posts by email")
}
