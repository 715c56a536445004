import type { Messages } from "../../../services/languages/Messages.ts"
import type { Permission } from "../../../services/staff/Permissions.ts"

type Words = Pick<Messages, "say">

/** Labels of permissions. */
export const permissionNames: Readonly<Record<Permission, (words: Words) => string>> = {
  administrator: ({ say }) => say("Administrator: everything, now and in the future"),
  viewDevops: ({ say }) => say("See how the machines are"),
  viewAuditLog: ({ say }) => say("Read the audit log"),
  viewDashboard: ({ say }) => say("See the dashboard and measures"),
  manageReports: ({ say }) => say("Decide about reports, and act on posts and accounts by them"),
  manageFederation: ({ say }) => say("Block, allow and steer other servers"),
  manageSettings: ({ say }) => say("Change what the server says of itself and how it takes people in"),
  manageBlocks: ({ say }) => say("Block e-mail, IP addresses and user names from signing up"),
  manageTaxonomies: ({ say }) => say("Review trends and manage hashtags"),
  manageAppeals: ({ say }) => say("Decide about appeals"),
  manageUsers: ({ say }) => say("See and act on accounts, and let people in"),
  manageInvites: ({ say }) => say("See and end everybody's invites"),
  manageRules: ({ say }) => say("Change the rules"),
  manageAnnouncements: ({ say }) => say("Write announcements"),
  manageCustomEmojis: ({ say }) => say("Manage custom emoji"),
  manageWebhooks: ({ say }) => say("Manage webhooks"),
  inviteUsers: ({ say }) => say("Invite people"),
  manageRoles: ({ say }) => say("Manage and give roles lower than their own"),
  manageUserAccess: ({ say }) => say("Take away others' two-factor sign-in, and change their address and password"),
  deleteUserData: ({ say }) => say("Delete others' data at once"),
  viewFeeds: ({ say }) => say("Read timelines that are switched off for others"),
  inviteBypassApproval: ({ say }) => say("Invite people who are let in without approval"),
  manageEmailSubscriptions: ({ say }) => say("Offer their posts by e-mail")
}
