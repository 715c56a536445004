import { Context, Effect, Layer } from "effect"

/**
 * Hosts that the server may contact. A file may be on an unlisted host: its owner's server is what counts. So may a
 * push service, which the user's device chose.
 */
export class HostPolicy extends Context.Service<HostPolicy, {
  /** Returns true if the host (with any unusual port) may be contacted. */
  readonly isOpen: (host: string, purpose: "document" | "file" | "push") => Effect.Effect<boolean>
}>()("murmuration/services/outbound/HostPolicy") {
  /** Allows every host, for code without domain rules. */
  static readonly layerAll = Layer.succeed(HostPolicy, { isOpen: () => Effect.succeed(true) })
}
