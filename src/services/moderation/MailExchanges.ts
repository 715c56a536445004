import { Context, Effect, Layer } from "effect"

/** Who takes e-mail for a domain, as name servers know it. `layers` supplies it. */
export class MailExchanges extends Context.Service<MailExchanges, {
  /** Names of hosts and their addresses, in lower case; none where nobody knows, or nobody answers in time. */
  readonly of: (domain: string) => Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/services/moderation/MailExchanges") {
  /** Without name servers: the domains that are named, and nothing about all others. */
  static readonly layerOf = (known: Readonly<Record<string, ReadonlyArray<string>>> = {}) =>
    Layer.succeed(MailExchanges, { of: (domain) => Effect.succeed(known[domain] ?? []) })
}
