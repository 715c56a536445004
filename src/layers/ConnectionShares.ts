import { Effect, Metric } from "effect"
import type { Server } from "node:net"
import * as AddressShares from "../http/guard/AddressShares.ts"
import { addressKey } from "../http/guard/ClientAddresses.ts"
import { Environment } from "./Environment.ts"
import { connectionsMax } from "./NodeServer.ts"
import { isTrustedProxy } from "./TrustedProxies.ts"

const refused = Metric.counter("murmuration_connections_refused_total", {
  description: "Connections closed at once because their address reached its limit",
  incremental: true
})

/**
 * Closes connections of one address beyond its limit, before any byte is read; an IPv6 address counts as its /64. A
 * proxy of `TRUSTED_PROXIES` is not limited: it stands for all clients behind it.
 */
export const guard = Effect.fnUntraced(function*(server: Server) {
  const { connectionsPerAddress: perAddressMax, trustedProxies } = yield* Environment
  const context = yield* Effect.context()
  const shares = AddressShares.make({ atOnceMax: connectionsMax, perAddressMax })
  let isReported = false
  server.on("connection", (socket) => {
    const { remoteAddress } = socket
    // A connection that is already closed has no address.
    if (remoteAddress === undefined || isTrustedProxy(trustedProxies, remoteAddress)) return
    const address = addressKey(remoteAddress)
    if (shares.enter(address) === undefined) return void socket.once("close", () => shares.leave(address))
    socket.destroy()
    refused.updateUnsafe(1, context)
    if (isReported) return
    isReported = true
    Effect.runForkWith(context)(Effect.logWarning(
      `${address} has ${perAddressMax} connections, more are closed (CONNECTIONS_PER_ADDRESS). If this is your reverse proxy, add it to TRUSTED_PROXIES`
    ))
  })
})
