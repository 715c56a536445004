import { Schema } from "effect"

export const RoleId = Schema.BigInt.pipe(Schema.brand("RoleId"))
export type RoleId = typeof RoleId.Type

/** Default role, whose permissions all users have in addition to their own role's. */
export const defaultRole = RoleId.make(-99n)

/** Bits of a role's `permissions` (entities.md, "Role"). */
export const permissions = {
  administrator: 1n << 0n,
  viewDevops: 1n << 1n,
  viewAuditLog: 1n << 2n,
  viewDashboard: 1n << 3n,
  manageReports: 1n << 4n,
  manageFederation: 1n << 5n,
  manageSettings: 1n << 6n,
  manageBlocks: 1n << 7n,
  manageTaxonomies: 1n << 8n,
  manageAppeals: 1n << 9n,
  manageUsers: 1n << 10n,
  manageInvites: 1n << 11n,
  manageRules: 1n << 12n,
  manageAnnouncements: 1n << 13n,
  manageCustomEmojis: 1n << 14n,
  manageWebhooks: 1n << 15n,
  inviteUsers: 1n << 16n,
  manageRoles: 1n << 17n,
  manageUserAccess: 1n << 18n,
  deleteUserData: 1n << 19n,
  viewFeeds: 1n << 20n,
  inviteBypassApproval: 1n << 21n,
  manageEmailSubscriptions: 1n << 22n
} as const
export type Permission = keyof typeof permissions

export const allPermissions = Object.values(permissions).reduce((bits, bit) => bits | bit, 0n)

/**
 * SQL for the permissions that role `r` gives user `u`: none if the role requires a second factor and the user has
 * none.
 */
export const givenBits = "CASE WHEN r.require_2fa AND u.otp_enabled_at IS NULL THEN 0 ELSE r.permissions END"

/** Permissions that give no power over others: invites, feeds, and posts by e-mail. */
const memberBits = permissions.inviteUsers | permissions.inviteBypassApproval | permissions.viewFeeds |
  permissions.manageEmailSubscriptions

/** Permissions that make a user staff. */
export const staffBits = allPermissions & ~memberBits

/** Combines the permissions of a role and the default role; an administrator has all. */
export const combined = (own: bigint, defaultPermissions: bigint): bigint => {
  const bits = own | defaultPermissions
  return (bits & permissions.administrator) === 0n ? bits : allPermissions
}

export const may = (bits: bigint, permission: Permission): boolean => (bits & permissions[permission]) !== 0n

/** Returns true if the bits include one of the permissions. */
export const mayAny = (bits: bigint, required: ReadonlyArray<Permission>): boolean =>
  required.some((permission) => may(bits, permission))
