import { Schema } from "effect"
import { Id, Timestamp } from "../../wire/Common.ts"
import { Flag, list, Text } from "../../wire/Params.ts"
import { History } from "../../wire/Tag.ts"

const text = Schema.optionalKey(Schema.NullOr(Text))
const flag = Schema.optionalKey(Flag)

export const AdminDomainAllow = Schema.Struct({ id: Id, domain: Schema.String, created_at: Timestamp })
  .annotate({ identifier: "Admin::DomainAllow" })
export type AdminDomainAllow = typeof AdminDomainAllow.Type

/** `POST /api/v1/admin/domain_allows`; a public suffix needs `confirmed`. */
export const DomainAllowWrite = Schema.Struct({ domain: text, confirmed: flag })

/** `digest` is the SHA-256 of the domain, in hexadecimal. */
export const AdminDomainBlock = Schema.Struct({
  id: Id,
  domain: Schema.String,
  digest: Schema.String,
  created_at: Timestamp,
  severity: Schema.Literals(["noop", "silence", "suspend"]),
  reject_media: Schema.Boolean,
  reject_reports: Schema.Boolean,
  private_comment: Schema.NullOr(Schema.String),
  public_comment: Schema.NullOr(Schema.String),
  obfuscate: Schema.Boolean
}).annotate({ identifier: "Admin::DomainBlock" })
export type AdminDomainBlock = typeof AdminDomainBlock.Type

/** Error for a domain block that conflicts with an existing one. */
export interface ExistingDomainBlock {
  readonly error: string
  readonly existing_domain_block: AdminDomainBlock
}

const blockFields = {
  severity: text,
  rejectMedia: flag,
  rejectReports: flag,
  privateComment: text,
  publicComment: text,
  obfuscate: flag
}
const blockKeys = {
  rejectMedia: "reject_media",
  rejectReports: "reject_reports",
  privateComment: "private_comment",
  publicComment: "public_comment"
} as const
/** `POST /api/v1/admin/domain_blocks`; a public suffix needs `confirmed`. */
export const DomainBlockWrite = Schema.Struct({ domain: text, confirmed: flag, ...blockFields }).pipe(
  Schema.encodeKeys(blockKeys)
)
/** `PUT /api/v1/admin/domain_blocks/:id`; the domain cannot be changed. */
export const DomainBlockUpdate = Schema.Struct(blockFields).pipe(Schema.encodeKeys(blockKeys))
export type DomainBlockUpdate = typeof DomainBlockUpdate.Type

export const AdminEmailDomainBlock = Schema.Struct({
  id: Id,
  domain: Schema.String,
  created_at: Timestamp,
  history: Schema.Array(History),
  allow_with_approval: Schema.Boolean
}).annotate({ identifier: "Admin::EmailDomainBlock" })
export type AdminEmailDomainBlock = typeof AdminEmailDomainBlock.Type

/** `other_domains[]` are the domain's mail hosts that are blocked with it; a public suffix needs `confirmed`. */
export const EmailDomainBlockWrite = Schema.Struct({
  domain: text,
  confirmed: flag,
  allowWithApproval: flag,
  otherDomains: Schema.optionalKey(list(Text))
}).pipe(Schema.encodeKeys({ allowWithApproval: "allow_with_approval", otherDomains: "other_domains" }))

/** Mail hosts of a domain, and their addresses. */
export const MailHosts = Schema.Struct({ domain: Schema.String, hosts: Schema.Array(Schema.String) })
export type MailHosts = typeof MailHosts.Type

export const AdminCanonicalEmailBlock = Schema.Struct({ id: Id, canonical_email_hash: Schema.String })
  .annotate({ identifier: "Admin::CanonicalEmailBlock" })
export type AdminCanonicalEmailBlock = typeof AdminCanonicalEmailBlock.Type

export const CanonicalEmailBlockWrite = Schema.Struct({ email: text, canonicalEmailHash: text })
  .pipe(Schema.encodeKeys({ canonicalEmailHash: "canonical_email_hash" }))
export const TestedEmail = Schema.Struct({ email: text })

export const AdminIpBlock = Schema.Struct({
  id: Id,
  ip: Schema.String,
  severity: Schema.Literals(["sign_up_requires_approval", "sign_up_block", "no_access"]),
  comment: Schema.String,
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Admin::IpBlock" })
export type AdminIpBlock = typeof AdminIpBlock.Type

/** `expires_in` is in seconds; empty means never. A very large network needs `confirmed`. */
export const IpBlockWrite = Schema.Struct({
  ip: text,
  severity: text,
  comment: text,
  expiresIn: text,
  confirmed: flag
})
  .pipe(Schema.encodeKeys({ expiresIn: "expires_in" }))
export type IpBlockWrite = typeof IpBlockWrite.Type

/** `exact`: matches the whole name, otherwise any name that contains it. */
export const AdminUsernameBlock = Schema.Struct({
  id: Id,
  username: Schema.String,
  exact: Schema.Boolean,
  allow_with_approval: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({ identifier: "Admin::UsernameBlock" })
export type AdminUsernameBlock = typeof AdminUsernameBlock.Type

export const UsernameBlockWrite = Schema.Struct({ username: text, exact: flag, allowWithApproval: flag })
  .pipe(Schema.encodeKeys({ allowWithApproval: "allow_with_approval" }))
export type UsernameBlockWrite = typeof UsernameBlockWrite.Type
