import type { ServerConfig } from "../../src/services/instance/ServerConfig.ts"

/** Returns the configuration of a server at `host`, for layer tests without an environment. */
export const configurationOf = (
  host: string,
  overrides: Partial<ServerConfig["Service"]> = {}
): ServerConfig["Service"] => ({
  localDomain: host,
  publicUrl: `https://${host}`,
  mediaUrl: `https://${host}/system`,
  mediaProxied: true,
  federated: true,
  outboundAllow: [],
  publicTimelines: "public",
  unusedDays: 90,
  trendsReview: "on",
  sourceUrl: undefined,
  emailSubscriptions: false,
  authorizedFetch: false,
  limitedFederation: false,
  registrations: "open",
  signupConfirmation: "none",
  captcha: { kind: "off" },
  provider: undefined,
  rateLimits: true,
  mailFrom: `notifications@${host}`,
  ...overrides
})
