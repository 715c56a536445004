import { Effect, Layer, Option, Queue, Schema } from "effect"
import type { RunnerAddress } from "effect/cluster"
import { Runners } from "effect/cluster"
import { RpcClient, RpcClientError, type RpcMessage, RpcServer } from "effect/rpc"
import { keyOf } from "./Leases.ts"
import type { Machine } from "./Machine.ts"
import type { Dice } from "./Seeded.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** Maximum milliseconds of a message between nodes. */
const delayMillisMax = 20

interface Server {
  readonly machine: Machine
  readonly receive: (connection: number, data: RpcMessage.FromClientEncoded) => Effect.Effect<void>
  readonly disconnected: (connection: number) => void
}

interface Connection {
  readonly client: Machine
  readonly server: Server
  readonly to: string
  readonly response: (data: RpcMessage.FromServerEncoded) => Effect.Effect<void>
  /** Arrival of the last message in each direction; a connection keeps the order. */
  readonly arrival: { there: number; back: number }
  /** Messages sent now are lost; the client has not noticed yet. */
  broken: boolean
}

/** A network between nodes that carries the encoded runner protocol, with delays. Connections can break. */
export class Network {
  readonly log: Array<string> = []
  /** Additional delay of messages from and to a machine, in milliseconds. */
  readonly slow = new Map<Machine, number>()
  /** Called before a machine sends a message; the returned effect runs first. */
  step: (machine: Machine) => Effect.Effect<void> = () => Effect.void
  private readonly servers = new Map<string, Server>()
  private readonly connections = new Map<number, Connection>()
  private lastConnection = 0
  private firstRequest: number | undefined
  private readonly time: VirtualTime
  private readonly dice: Dice

  constructor(time: VirtualTime, dice: Dice) {
    this.time = time
    this.dice = dice
  }

  /** Breaks every connection of the machine; with `gone` it also becomes unreachable. */
  breakConnections(machine: Machine, gone: boolean) {
    if (gone) { for (const [key, server] of this.servers) if (server.machine === machine) this.servers.delete(key) }
    for (const [id, connection] of this.connections) {
      const { response, client, server, to } = connection
      if (connection.broken || (server.machine !== machine && client !== machine)) continue
      connection.broken = true
      this.time.after(this.delay(client, server.machine), () => {
        this.connections.delete(id)
        client.run(response({ _tag: "ClientProtocolError", error: noRoute(to) }))
        server.machine.soon(() => server.disconnected(id))
      })
    }
  }

  private delay(from: Machine, to: Machine) {
    return this.dice.between(1, delayMillisMax) + (this.slow.get(from) ?? 0) + (this.slow.get(to) ?? 0)
  }

  private carry(id: number, direction: "there" | "back", what: string, arrived: (connection: Connection) => void) {
    const connection = this.connections.get(id)
    if (connection === undefined || connection.broken) return
    const { arrival, client, server } = connection
    arrival[direction] = Math.max(arrival[direction], this.time.now + this.delay(client, server.machine))
    this.time.after(arrival[direction] - this.time.now, () => {
      if (connection.broken) return
      const [from, to] = direction === "there" ? [client, server.machine] : [server.machine, client]
      this.log.push(`${this.time.now} ${from.name}>${to.name} ${this.relative(what)}`)
      arrived(connection)
    })
  }

  /** Requests and fibers are numbered per process; a trace counts requests from the start of the run. */
  private relative(what: string) {
    return what.replaceAll(/"fiberId":\d+/g, "\"fiberId\":0").replace(
      /^(\{"_tag":"\w+","(?:id|requestId)":)(\d+)/,
      (_, before: string, id: string) => {
        this.firstRequest ??= Number(id)
        return `${before}${Number(id) - this.firstRequest}`
      }
    )
  }

  serverLayer(self: RunnerAddress.RunnerAddress, machine: Machine) {
    return Layer.effect(
      RpcServer.Protocol,
      RpcServer.Protocol.make((write) =>
        Effect.gen({ self: this }, function*() {
          const ids = new Set<number>()
          const disconnects = yield* Queue.make<number>()
          const server: Server = {
            machine,
            receive: (id, data) => {
              ids.add(id)
              return write(id, data)
            },
            disconnected: (id) => {
              if (ids.delete(id)) Queue.offerUnsafe(disconnects, id)
            }
          }
          yield* Effect.acquireRelease(
            Effect.sync(() => this.servers.set(keyOf(self), server)),
            () => Effect.sync(() => this.servers.delete(keyOf(self)))
          )
          return {
            disconnects,
            clientIds: Effect.sync(() => ids),
            initialMessage: Effect.succeed(Option.none()),
            send: (id, data) =>
              Effect.andThen(
                this.step(machine),
                Effect.sync(() =>
                  this.carry(id, "back", JSON.stringify(data), ({ response, client }) => client.run(response(data)))
                )
              ),
            end: () => Effect.void,
            supportsAck: true,
            supportsTransferables: false,
            supportsSpanPropagation: false,
            supportsNotifications: true,
            codecFor: Schema.toCodecJson
          }
        })
      )
    )
  }

  clientLayer(machine: Machine) {
    return Layer.succeed(Runners.RpcClientProtocol, {
      codecFor: Schema.toCodecJson,
      make: (address) =>
        RpcClient.Protocol.make((writeResponse) =>
          Effect.sync(() => {
            const to = keyOf(address)
            const ids = new Map<number, number>()
            const connectionOf = (clientId: number, server: Server) => {
              const known = ids.get(clientId)
              if (known !== undefined && this.connections.has(known)) return known
              const id = ++this.lastConnection
              this.connections.set(id, {
                client: machine,
                server,
                to,
                arrival: { there: 0, back: 0 },
                broken: false,
                response: (data) => writeResponse(clientId, data)
              })
              ids.set(clientId, id)
              return id
            }
            return {
              supportsAck: true,
              supportsTransferables: false,
              codecFor: Schema.toCodecJson,
              send: Effect.fnUntraced({ self: this }, function*(clientId: number, data: RpcMessage.FromClientEncoded) {
                yield* this.step(machine)
                const server = this.servers.get(to)
                // A refusal also takes time: otherwise a caller that retries at once would stop the clock.
                if (server === undefined) {
                  yield* Effect.sleep(this.dice.between(1, delayMillisMax))
                  return yield* noRoute(to)
                }
                const id = connectionOf(clientId, server)
                this.carry(id, "there", JSON.stringify(data), ({ server }) =>
                  server.machine.run(server.receive(id, data)))
              })
            }
          })
        )
    })
  }
}

const noRoute = (to: string) => {
  const reason = new RpcClientError.RpcClientDefect({ message: `no route to ${to}`, cause: "down" })
  return new RpcClientError.RpcClientError({ reason })
}
