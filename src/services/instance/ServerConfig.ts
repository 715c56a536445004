import { Context, type Redacted } from "effect"
import type { IpNetwork } from "effect/net"

/** Captcha of a sign-up: none, proof of work with `bits` zero bits, or hCaptcha. */
export type CaptchaConfig =
  | { readonly kind: "off" }
  | { readonly kind: "proof"; readonly bits: number }
  | {
    readonly kind: "hcaptcha"
    readonly siteKey: string
    readonly secretKey: Redacted.Redacted<string>
    readonly verifyUrl: string
    readonly scriptUrl: string
  }

/** OpenID Connect provider by which users sign in. */
export interface ProviderConfig {
  /** Issuer, as a normalised URL. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted<string>
  /** Name on the sign-in button. */
  readonly name: string
  readonly scopes: string
  readonly groupsClaim: string
  /** Groups whose members may sign in; undefined for everybody. */
  readonly allowedGroups: ReadonlyArray<string> | undefined
  /** Names of roles by group. */
  readonly roles: ReadonlyArray<readonly [group: string, role: string]>
  /** True if people without an account get one. */
  readonly signUp: boolean
  /** True if passwords are refused. */
  readonly only: boolean
  /** True if the provider's second factor replaces the user's own. */
  readonly trustFactors: boolean
}

/** Configuration that all modules may read; `layers/Environment` reads it from environment variables. */
export class ServerConfig extends Context.Service<ServerConfig, {
  /** URL of this server's source code; undefined if the operator does not give one. */
  readonly sourceUrl: string | undefined
  /** Domain in handles, such as `example.org`. */
  readonly localDomain: string
  /** URL of the server, without a trailing slash. */
  readonly publicUrl: string
  /** URL of stored files, without a trailing slash: below `publicUrl`, or on another origin. */
  readonly mediaUrl: string
  /**
   * True if files of remote accounts are served through this server; otherwise browsers load them from their origin.
   */
  readonly mediaProxied: boolean
  /** True if the server federates: with https, or in a lab by `outboundAllow`. */
  readonly federated: boolean
  /** Private networks that may be contacted, also without TLS; empty except in tests and labs. */
  readonly outboundAllow: ReadonlyArray<IpNetwork.IpNetwork>
  readonly publicTimelines: "public" | "members"
  /** Days after which unused remote accounts, hashtags and similar records are removed. */
  readonly unusedDays: number
  /** `off` shows trends without review by staff. */
  readonly trendsReview: "on" | "off"
  /** True if users whose role allows it may offer their posts by e-mail to people without an account. */
  readonly emailSubscriptions: boolean
  /** Secure mode: other servers must sign their requests. */
  readonly authorizedFetch: boolean
  /** Limited federation mode: reads need a signed-in user, except for information about the instance. */
  readonly limitedFederation: boolean
  readonly registrations: "open" | "approval" | "closed"
  /** `none` confirms sign-ups at once. */
  readonly signupConfirmation: "mail" | "none"
  readonly captcha: CaptchaConfig
  /** OpenID Connect provider; undefined without one. */
  readonly provider: ProviderConfig | undefined
  readonly mailFrom: string
  /** False disables all rate limits, including those of commands. */
  readonly rateLimits: boolean
}>()("murmuration/services/instance/ServerConfig") {}
