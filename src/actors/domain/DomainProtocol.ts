import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { HostDocument, WantedDocument } from "../../services/federation/HostDocuments.ts"
import { OutboundError } from "../../services/outbound/OutboundError.ts"

/** Maximum pending wake-ups of a host; further ones add no information. */
export const domainMailboxMax = 64

/**
 * The actor of a remote host; its entity id is the host, with its port unless that is the default. `Wake` says that
 * deliveries wait, and may be lost. `Fetch` fetches a document from the host.
 */
export const RemoteDomain = Entity.make("RemoteDomain", [
  Rpc.make("Wake"),
  Rpc.make("Fetch", { payload: WantedDocument, success: HostDocument, error: OutboundError })
])
