import { Schema } from "effect"

export const RoleId = Schema.BigInt.pipe(Schema.brand("RoleId"))
export type RoleId = typeof RoleId.Type

/** The role that every user has beside their own. */
export const everyone = RoleId.make(-99n)

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

export const every = Object.values(permissions).reduce((bits, bit) => bits | bit, 0n)

/** The bits that the role `r` gives its user `u`, as SQL: none while it wants a second factor that they have not set up. */
export const givenBits = "CASE WHEN r.require_2fa AND u.otp_enabled_at IS NULL THEN 0 ELSE r.permissions END"

/** What makes somebody staff: everything but what everybody may be given. */
export const staffBits = every & ~(permissions.inviteUsers | permissions.inviteBypassApproval)

/** What a user may do: the own role's bits and everybody's; an administrator has them all. */
export const effective = (own: bigint, everybodys: bigint): bigint => {
  const bits = own | everybodys
  return (bits & permissions.administrator) === 0n ? bits : every
}

export const may = (bits: bigint, permission: Permission): boolean => (bits & permissions[permission]) !== 0n

/** Whether the bits have one of the permissions. */
export const mayAny = (bits: bigint, wanted: ReadonlyArray<Permission>): boolean =>
  wanted.some((permission) => may(bits, permission))
