import { Effect } from "effect"
import { asking, type HostDocument, type WantedDocument } from "../../services/federation/HostDocuments.ts"
import * as SingleFlight from "../../services/federation/SingleFlight.ts"
import type { OutboundError } from "../../services/outbound/OutboundError.ts"

/** Documents that are on their way to a node's actors at once; beyond it each is asked for by itself. */
const underWayMax = 10_000

/** Documents of the hosts whose actors are on this node, each once however many ask for it at that time. */
export const make = Effect.gen(function*() {
  const ask = yield* asking
  const once = yield* SingleFlight.make<HostDocument, OutboundError>(underWayMax)
  return (wanted: WantedDocument) => once(`${wanted.as} ${wanted.url}`, ask(wanted))
})
