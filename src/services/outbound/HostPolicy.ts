import { Context, Effect, Layer } from "effect"

/**
 * Which hosts the server may ask. A file may be at a host that nobody listed: its owner's server is what counts; and so may a
 * push service be, which the user's device chose.
 */
export class HostPolicy extends Context.Service<HostPolicy, {
  /** Whether the host (with a port where that is not the usual one) may be asked or written to. */
  readonly isOpen: (host: string, what: "document" | "file" | "push") => Effect.Effect<boolean>
}>()("murmuration/services/outbound/HostPolicy") {
  /** Every host, for what knows of no rules. */
  static readonly layerAll = Layer.succeed(HostPolicy, { isOpen: () => Effect.succeed(true) })
}
