import { Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net"
import type { Trust } from "../../../src/layers/outbound/Connector.ts"
import { Names } from "../../../src/layers/outbound/Names.ts"
import * as UndiciTransport from "../../../src/layers/outbound/UndiciTransport.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { activity } from "../../../src/services/outbound/DocumentTypes.ts"
import { HostPolicy as HostRules } from "../../../src/services/outbound/HostPolicy.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { configuration } from "../../support/Reads.ts"
import { certificate, privateKey } from "./certificate.ts"

const listening = <S extends Server | TcpServer>(server: S) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly url: string }>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ port, url: `http://127.0.0.1:${port}` }))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        if ("closeAllConnections" in server) server.closeAllConnections()
      })
  )

/** Fetches an ActivityPub document. */
export const getJson = (url: string) => Outbound.use(({ json }) => json({ url, type: activity }))

/** Starts a loopback host whose responses the test decides; records its requests. */
export const host = Effect.fnUntraced(
  function*(reply: (request: IncomingMessage, response: ServerResponse) => void) {
    const requests: Array<IncomingMessage> = []
    const place = yield* listening(createServer((request, response) => {
      requests.push(request)
      reply(request, response)
    }))
    return { ...place, requests }
  }
)

/** Starts the host with TLS, as `peer.test`. */
export const secureHost = (reply: (request: IncomingMessage, response: ServerResponse) => void) =>
  listening(createSecureServer({ cert: certificate, key: privateKey }, reply))

/** Starts a host that speaks raw bytes. */
export const rawHost = Effect.fnUntraced(function*(talk: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
  return yield* listening(createTcpServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    talk(socket)
  }))
})

export const activityJson = { "content-type": "application/activity+json" }

export const sendJson = (response: ServerResponse, value: unknown) =>
  response.writeHead(200, activityJson).end(JSON.stringify(value))

export interface World {
  /** Value of `OUTBOUND_ALLOW`. */
  readonly allow?: ReadonlyArray<string>
  readonly names?: (name: string) => ReadonlyArray<string>
  readonly trust?: Trust
}

/** The client over real sockets, with the test's name resolution. */
export const outbound = ({ allow = ["127.0.0.0/8"], names = () => [], trust = {} }: World = {}) =>
  Outbound.layer.pipe(
    Layer.provide(HostRules.layerAll),
    Layer.provideMerge(UndiciTransport.layerWith(trust)),
    Layer.provide(Layer.succeed(Names, { resolve: (name) => Effect.sync(() => names(name)) })),
    Layer.provide(Layer.succeed(ServerConfig, {
      ...configuration,
      outboundAllow: allow.map((network) => IpNetwork.fromStringUnsafe(network))
    }))
  )
