import { Effect } from "effect"
import { documentFetcher, type HostDocument, type WantedDocument } from "../../services/federation/HostDocuments.ts"
import * as SingleFlight from "../../services/federation/SingleFlight.ts"
import type { OutboundError } from "../../services/outbound/OutboundError.ts"

/** Maximum shared fetches of a node's actors; beyond it each caller fetches by itself. */
const underWayMax = 10_000

/** Fetches documents of the hosts whose actors are on this node, one fetch for all concurrent callers. */
export const make = Effect.gen(function*() {
  const ask = yield* documentFetcher
  const shared = yield* SingleFlight.make<HostDocument, OutboundError>(underWayMax)
  return (request: WantedDocument) => shared(`${request.as} ${request.url}`, ask(request))
})
