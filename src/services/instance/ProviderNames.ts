import type { ProviderConfig } from "./ServerConfig.ts"

/** Returns an OpenID provider's name for people: the configured one's, or the host of a former one. */
export const providerName = (configured: ProviderConfig | undefined, issuer: string): string =>
  issuer === configured?.issuer ? configured.name : URL.parse(issuer)?.host ?? issuer
