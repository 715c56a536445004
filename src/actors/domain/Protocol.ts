import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/** Wake-ups that may wait for one host; more say nothing new. */
export const domainMailboxMax = 64

/**
 * The only one that sends to a host; its entity id is the host, with a port where that is not the usual one. `Wake` says
 * that something waits for the host, and may be lost.
 */
export const RemoteDomain = Entity.make("RemoteDomain", [Rpc.make("Wake")])
