import { Context, Effect, Layer } from "effect"

/** DNS lookup of a domain's mail servers. `layers` supplies it. */
export class MailExchanges extends Context.Service<MailExchanges, {
  /** Returns host names and IP addresses in lower case; empty if there are no records, or no response in time. */
  readonly of: (domain: string) => Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/services/moderation/MailExchanges") {
  /** Makes a layer without DNS that only knows the given domains. */
  static readonly layerOf = (known: Readonly<Record<string, ReadonlyArray<string>>> = {}) =>
    Layer.succeed(MailExchanges, { of: (domain) => Effect.succeed(known[domain] ?? []) })
}
