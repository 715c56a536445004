import { Context, type Redacted } from "effect"
import type { IpNetwork } from "effect/net"

/** What a sign-up has to do beside reading a mail: nothing, so many bits of work, or what another service asks. */
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

/** What every room may know of the configuration; `layers/Environment` reads it from the environment's variables. */
export class ServerConfig extends Context.Service<ServerConfig, {
  /** Where the source of this server is; undefined where its operator does not say. */
  readonly sourceUrl: string | undefined
  /** The domain in handles, for example `example.org`. */
  readonly localDomain: string
  /** Where the server is reached, without a slash at the end. */
  readonly publicUrl: string
  /** Where stored files are reached, without a slash at the end: below `publicUrl`, or another origin. */
  readonly mediaUrl: string
  /** Files of remote accounts are shown by way of this server, else browsers get them where they are. */
  readonly mediaProxied: boolean
  /** True with https, or where `outboundAllow` says that this is a lab: only then does the server speak to others. */
  readonly federated: boolean
  /** Networks whose hosts may be asked although they are private, and without TLS; empty but in tests and labs. */
  readonly outboundAllow: ReadonlyArray<IpNetwork.IpNetwork>
  readonly publicTimelines: "public" | "members"
  /** Days after which remote accounts, hashtags and the like are removed that nothing here refers to. */
  readonly unusedDays: number
  /** `off`: what trends is shown although nobody of the staff looked at it. */
  readonly trendsReview: "on" | "off"
  /** Whether members whose role allows it may have their posts sent by e-mail to people without an account. */
  readonly emailSubscriptions: boolean
  /** Secure mode: other servers sign what they ask for. */
  readonly authorizedFetch: boolean
  /** Restricted mode: reads need a user, instance information excepted. */
  readonly limitedFederation: boolean
  readonly registrations: "open" | "approval" | "closed"
  /** `none`: sign-ups are confirmed at once. */
  readonly signupConfirmation: "mail" | "none"
  readonly captcha: CaptchaConfig
  readonly mailFrom: string
  /** False switches off every limit of use, those of accounts' families as well. */
  readonly rateLimits: boolean
}>()("murmuration/services/instance/ServerConfig") {}
