import { Agent, type Dispatcher } from "@effect/platform-node/Undici"
import { Effect, Layer } from "effect"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { requestsPerHostMax } from "../../services/outbound/HostSlots.ts"
import type { Refused, Unreachable } from "../../services/outbound/OutboundError.ts"
import { Transport, type TransportRequest, type TransportResponse } from "../../services/outbound/Transport.ts"
import * as Connector from "./Connector.ts"
import { Exchange } from "./Exchange.ts"
import { IncomingResponse } from "./IncomingResponse.ts"
import { Names } from "./Names.ts"

/** Maximum bytes of all headers of a response. */
const headerBytesMax = 16_384
/** Maximum hosts with open connections. */
const originsMax = 4_096
/** Idle time of a connection in milliseconds: the default, and the maximum if the host states one. */
const idleMillis = 4_000
const idleMillisMax = 60_000

/** Transport by undici, whose connections `Connector` makes. All timeouts are the caller's, on Effect's clock. */
export const layerWith = (trust: Connector.Trust) =>
  Layer.effect(
    Transport,
    Effect.gen(function*() {
      const { outboundAllow } = yield* ServerConfig
      const connect = yield* Connector.make(outboundAllow, trust)
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() =>
          new Agent({
            connect: (options, done) => void connect(options, done),
            connections: requestsPerHostMax,
            maxOrigins: originsMax,
            pipelining: 1,
            allowH2: false,
            maxHeaderSize: headerBytesMax,
            headersTimeout: 0,
            bodyTimeout: 0,
            keepAliveTimeout: idleMillis,
            keepAliveMaxTimeout: idleMillisMax
          })
        ),
        (agent) => Effect.promise(() => agent.destroy())
      )

      const dispatch = ({ body, headers, method, url }: TransportRequest, handler: Dispatcher.DispatchHandler) =>
        agent.dispatch(
          { origin: url.origin, path: url.pathname + url.search, method, headers, body: body ?? null },
          handler
        )

      const send = (request: TransportRequest) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            let resume: (result: Effect.Effect<TransportResponse, Refused | Unreachable>) => void = () => {}
            const incomingResponse = new IncomingResponse(request.url.href, (result) => resume(result))
            yield* Effect.addFinalizer(() => Effect.sync(() => incomingResponse.abort()))
            return yield* restore(Effect.callback<TransportResponse, Refused | Unreachable>((done) => {
              resume = done
              dispatch(request, incomingResponse)
            }))
          })
        )
      return Transport.of({
        send,
        exchange: (request, bytesMax, done) => {
          const exchange = new Exchange(request.url.href, bytesMax, done)
          dispatch(request, exchange)
          return () => exchange.end()
        }
      })
    })
  )

export const layer = layerWith({}).pipe(Layer.provide(Names.layer))
