import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { HostDocument, WantedDocument } from "../../services/federation/HostDocuments.ts"
import { OutboundError } from "../../services/outbound/OutboundError.ts"

/** Wake-ups that may wait for one host; more say nothing new. */
export const domainMailboxMax = 64

/**
 * The only one that sends to a host; its entity id is the host, with a port where that is not the usual one. `Wake` says
 * that something waits for the host, and may be lost. `Fetch` asks the host for a document.
 */
export const RemoteDomain = Entity.make("RemoteDomain", [
  Rpc.make("Wake"),
  Rpc.make("Fetch", { payload: WantedDocument, success: HostDocument, error: OutboundError })
])
