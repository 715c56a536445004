import { Effect, Layer } from "effect"
import { Outbound } from "../../src/services/outbound/Outbound.ts"
import { Unreachable } from "../../src/services/outbound/OutboundError.ts"

const nobody = ({ url }: { readonly url: string }) => Effect.fail(new Unreachable({ url, reason: "name" }))

/** Outbound client that reaches no other server. */
export const noOutbound = Layer.succeed(Outbound, { json: nobody, text: nobody, stream: nobody, post: nobody })
