import * as EmailAddresses from "../identity/EmailAddresses.ts"
import { usernameCharactersMax } from "../identity/Usernames.ts"
import { bounded } from "../text/BoundedText.ts"
import { compatibleDecomposed } from "../text/Normalisation.ts"

/** Maximum groups of a person, and maximum characters of a group's name. */
const groupsMax = 1_000
const groupCharactersMax = 255
/** Maximum depth of a claim's name. */
const namePartsMax = 8

/** A person as the provider describes them. */
export interface ProviderIdentity {
  readonly issuer: string
  readonly subject: string
  readonly email: EmailAddresses.EmailAddress | undefined
  /** True if the provider has verified the address. */
  readonly emailVerified: boolean
  /** Suggested username, valid or empty. */
  readonly username: string
  readonly groups: ReadonlyArray<string>
  /** True if the provider used several factors (RFC 8176, "mfa"). */
  readonly multiFactor: boolean
}

/** Claims of an ID token or of the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Claims =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Subjects are ASCII (OpenID Connect Core, 2). */
export const isSubject = (value: unknown): value is string =>
  typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value)

/** Returns a claim by its name, or by its path of dots. */
export const claimOf = (claims: Claims, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split(".", namePartsMax)) {
    value = isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined
  }
  return value
}

const groupsOf = (value: unknown): ReadonlyArray<string> =>
  (Array.isArray(value) ? value.slice(0, groupsMax) : [value])
    .filter((one) => typeof one === "string" && one !== "" && one.length <= groupCharactersMax)

/** Makes a valid username of a claim; empty if none of its characters may be in one. */
const usernameOf = (claim: unknown): string =>
  typeof claim !== "string"
    ? ""
    : compatibleDecomposed(bounded((claim.split("@", 1)[0] ?? "").slice(0, EmailAddresses.emailCharactersMax)))
      .replaceAll(/\p{M}+/gu, "").split(/[^a-z0-9]+/i).filter((part) => part !== "").join("_")
      .slice(0, usernameCharactersMax)

/**
 * Reads the standard claims (OpenID Connect Core, 5.1) and the groups. The claims of the ID token count before those of
 * `info`. An address is verified only by the same source, and only by the value `true`.
 */
export const identityOf = (
  issuer: string,
  subject: string,
  token: Claims,
  info: Claims,
  groupsClaim: string
): ProviderIdentity => {
  const claims = { ...info, ...token }
  const isWhole = token["email"] !== undefined && token["email_verified"] !== undefined
  const source = isWhole || info["email"] === undefined ? token : info
  const email = source["email"]
  const suggestions = [claims["preferred_username"], claims["nickname"], email, claims["name"]].map(usernameOf)
  const factors = token["amr"]
  const address = typeof email === "string" ? EmailAddresses.parse(email) : undefined
  return {
    issuer,
    subject,
    email: address,
    emailVerified: address !== undefined && source["email_verified"] === true,
    username: suggestions.find((name) => name !== "") ?? "",
    groups: groupsOf(claimOf(token, groupsClaim) ?? claimOf(info, groupsClaim)),
    multiFactor: Array.isArray(factors) && factors.includes("mfa")
  }
}
