import type { buildConnector } from "@effect/platform-node/Undici"
import { Effect, type Fiber } from "effect"
import type { IpNetwork } from "effect/net"
import { connect, isIP, type LookupFunction, type Socket } from "node:net"
import * as Tls from "node:tls"
import { mayConnect } from "../../services/outbound/AllowedAddresses.ts"
import { Names } from "./Names.ts"

/** Maximum time for DNS, TCP and TLS together, in seconds. */
export const connectSecondsMax = 5

/** Failure to connect, with its stage. */
export class ConnectFailure extends Error {
  readonly why: "address" | "connect" | "name" | "timeout" | "tls"
  constructor(why: ConnectFailure["why"], cause?: Error) {
    super(`no connection: ${why}`, { cause })
    this.why = why
  }
}

/** Certificate authorities (PEM) that replace Node's own. */
export interface Trust {
  readonly authorities?: string
}

interface Target {
  readonly host: string
  readonly port: number
  readonly secure: boolean
  /** The only addresses that are tried. */
  readonly addresses: ReadonlyArray<string>
}

const socketTo = ({ addresses, host, port, secure }: Target, { authorities }: Trust) =>
  Effect.callback<Socket, ConnectFailure>((resume) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    const lookup: LookupFunction = (_name, _options, done) => done(null, found)
    const tcp = connect({ host, port, lookup, autoSelectFamily: true, noDelay: true, keepAlive: true })
    const socket = secure
      ? Tls.connect({
        socket: tcp,
        servername: isIP(host) === 0 ? host : "",
        host,
        ALPNProtocols: ["http/1.1"],
        ...(authorities === undefined ? {} : { ca: authorities })
      })
      : tcp
    let connected = false
    const fail = (error: Error) => resume(Effect.fail(new ConnectFailure(connected ? "tls" : "connect", error)))
    tcp.once("connect", () => {
      connected = true
    })
    tcp.on("error", fail)
    socket.on("error", fail)
    socket.once("close", () => fail(new Error("closed")))
    socket.once(secure ? "secureConnect" : "connect", () => resume(Effect.succeed(socket)))
    return Effect.sync(() => {
      socket.destroy()
      tcp.destroy()
    })
  })

/**
 * Connects only to allowed addresses. A name is resolved once, its addresses are checked, and exactly these are used: a
 * DNS response that changes afterwards has no effect (row 29).
 */
export const make = Effect.fnUntraced(function*(allowed: ReadonlyArray<IpNetwork.IpNetwork>, trust: Trust) {
  const names = yield* Names
  const context = yield* Effect.context()

  const connectTo = Effect.fnUntraced(function*(options: buildConnector.Options) {
    const secure = options.protocol === "https:"
    const host = options.hostname.replaceAll(/^\[|\]$/g, "")
    const found = isIP(host) === 0 ? yield* names.resolve(host) : [host]
    if (found.length === 0) return yield* Effect.fail(new ConnectFailure("name"))
    const addresses = found.filter((address) => mayConnect(allowed, address, secure))
    if (addresses.length === 0) return yield* Effect.fail(new ConnectFailure("address"))
    const port = options.port === "" ? (secure ? 443 : 80) : Number(options.port)
    const socket = yield* socketTo({ host, port, secure, addresses }, trust)
    // The address that was really connected to decides; checking it again costs nothing.
    if (mayConnect(allowed, socket.remoteAddress ?? "", secure)) return socket
    socket.destroy()
    return yield* Effect.fail(new ConnectFailure("address"))
  })

  return (options: buildConnector.Options, done: buildConnector.Callback): Fiber.Fiber<void> =>
    connectTo(options).pipe(
      Effect.timeoutOrElse({
        duration: `${connectSecondsMax} seconds`,
        orElse: () => Effect.fail(new ConnectFailure("timeout"))
      }),
      Effect.match({ onSuccess: (socket) => done(null, socket), onFailure: (error) => done(error, null) }),
      Effect.runForkWith(context)
    )
})
