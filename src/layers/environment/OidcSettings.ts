import type { ProviderConfig } from "../../services/instance/ServerConfig.ts"
import type { Values } from "./variables.ts"

/** Variables without a default, of which any asks for the others. */
const names = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] as const

/** Role that the operator gives by a one-time link only. */
const owner = "owner"

/** Returns an error for each variable of the provider that is missing or contradicts another one. */
export const missingForProvider = (values: Values): ReadonlyArray<string> => {
  const { OIDC_ISSUER: issuer, OIDC_ROLES: roles = [], OIDC_SCOPES: scopes } = values
  const isAsked = names.some((name) => values[name] !== undefined) || values.OIDC_ONLY || values.OIDC_SIGN_UP
  if (!isAsked) return []
  return [
    ...names.flatMap((name) =>
      values[name] === undefined ? [`${name}: sign-in by a provider (OIDC_... is set) needs it.`] : []
    ),
    ...(issuer !== undefined && (issuer.search !== "" || issuer.hash !== "" || issuer.username !== "")
      ? ["OIDC_ISSUER: expected a URL without user, query and fragment."]
      : []),
    ...(scopes.split(" ").includes("openid") ? [] : ["OIDC_SCOPES: expected \"openid\" among the scopes."]),
    ...(roles.some(([, role]) => role.toLowerCase() === owner)
      ? ["OIDC_ROLES: the role Owner cannot be given by the provider."]
      : [])
  ]
}

/** Returns the configured provider; undefined without one. */
export const providerSettings = (values: Values): ProviderConfig | undefined => {
  const { OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_ISSUER: issuer } = values
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined
  return {
    issuer: issuer.href,
    clientId,
    clientSecret,
    name: values.OIDC_NAME ?? issuer.host,
    scopes: values.OIDC_SCOPES,
    groupsClaim: values.OIDC_GROUPS_CLAIM,
    allowedGroups: values.OIDC_ALLOWED_GROUPS,
    roles: values.OIDC_ROLES ?? [],
    signUp: values.OIDC_SIGN_UP,
    only: values.OIDC_ONLY,
    trustFactors: values.OIDC_TRUST_MFA
  }
}
