import { Clock, Effect, Layer, Option, Queue, Random, Schema } from "effect"
import {
  MachineId,
  type Runner,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerServer,
  RunnerStorage,
  ShardingConfig
} from "effect/cluster"
import { RpcClient, RpcClientError, type RpcMessage, RpcServer } from "effect/rpc"

export const keyOf = (address: RunnerAddress.RunnerAddress) => `${address.host}:${address.port}`

/** The leases of shards on virtual time, in the way of SqlRunnerStorage, which needs real connections. */
export class Leases {
  private readonly runners = new Map<string, { runner: Runner.Runner; healthy: boolean; seen: number }>()
  private readonly leases = new Map<string, { owner: string; until: number }>()
  private readonly frozen = new Set<string>()
  private machine = 0
  private readonly expiryMillis: number

  constructor(expiryMillis: number) {
    this.expiryMillis = expiryMillis
  }

  /** A node that is dead or frozen can neither keep nor release its leases. */
  freeze(address: RunnerAddress.RunnerAddress) {
    this.frozen.add(keyOf(address))
  }
  unfreeze(address: RunnerAddress.RunnerAddress) {
    this.frozen.delete(keyOf(address))
  }

  private whileLive<A>(address: RunnerAddress.RunnerAddress, dead: A, run: (now: number) => A) {
    return Effect.map(Clock.currentTimeMillis, (now) => this.frozen.has(keyOf(address)) ? dead : run(now))
  }

  readonly storage = RunnerStorage.RunnerStorage.of({
    getRunners: Effect.map(Clock.currentTimeMillis, (now) =>
      [...this.runners.values()].filter(({ seen }) => seen > now - this.expiryMillis)
        .map(({ healthy, runner }) => [runner, healthy] as const)),
    register: (runner, healthy) =>
      Effect.map(Clock.currentTimeMillis, (seen) => {
        this.runners.set(keyOf(runner.address), { runner, healthy, seen })
        return MachineId.make(this.machine++)
      }),
    unregister: (address) => this.whileLive(address, undefined, () => void this.runners.delete(keyOf(address))),
    setRunnerHealth: (address, healthy) =>
      Effect.sync(() => {
        const known = this.runners.get(keyOf(address))
        if (known !== undefined) known.healthy = healthy
      }),
    acquire: (address, shards) =>
      this.whileLive(address, [], (now) =>
        [...shards].filter((shard) => {
          const lease = this.leases.get(String(shard))
          if (lease !== undefined && lease.owner !== keyOf(address) && lease.until > now) return false
          this.leases.set(String(shard), { owner: keyOf(address), until: now + this.expiryMillis })
          return true
        })),
    refresh: (address, shards) =>
      this.whileLive(address, [], (now) => {
        const known = this.runners.get(keyOf(address))
        if (known !== undefined) known.seen = now
        return [...shards].filter((shard) => {
          const lease = this.leases.get(String(shard))
          if (lease === undefined || lease.owner !== keyOf(address)) return false
          lease.until = now + this.expiryMillis
          return true
        })
      }),
    release: (address, shard) =>
      this.whileLive(address, undefined, () => {
        if (this.leases.get(String(shard))?.owner === keyOf(address)) this.leases.delete(String(shard))
      }),
    releaseAll: (address) =>
      this.whileLive(address, undefined, () => {
        for (const [shard, lease] of this.leases) if (lease.owner === keyOf(address)) this.leases.delete(shard)
      })
  })
}

type Inbound = (connection: number, data: RpcMessage.FromClientEncoded) => Effect.Effect<void>
type Reply = (data: RpcMessage.FromServerEncoded) => Effect.Effect<void>

/** A network between the nodes that carries the encoded protocol of runners, with delays; connections can be cut. */
export class Network {
  readonly servers = new Map<string, Inbound>()
  readonly log: Array<string> = []
  private readonly connections = new Map<number, { readonly to: string; readonly reply: Reply }>()
  private lastConnection = 0

  readonly hop = Effect.flatMap(Random.nextIntBetween(1, 20), (millis) => Effect.sleep(millis))

  noRoute(address: RunnerAddress.RunnerAddress) {
    const reason = new RpcClientError.RpcClientDefect({ message: `no route to ${keyOf(address)}`, cause: "down" })
    return new RpcClientError.RpcClientError({ reason })
  }

  open(to: string, reply: Reply) {
    this.connections.set(++this.lastConnection, { to, reply })
    return this.lastConnection
  }

  reply(connection: number, data: RpcMessage.FromServerEncoded) {
    return Effect.suspend(() => this.connections.get(connection)?.reply(data) ?? Effect.void)
  }

  /** Every connection to the node breaks; callers see an error and may connect again if the node still listens. */
  readonly breakConnections = Effect.fnUntraced(function*(this: Network, address: RunnerAddress.RunnerAddress) {
    for (const [id, { reply, to }] of this.connections) {
      if (to !== keyOf(address)) continue
      this.connections.delete(id)
      yield* reply({ _tag: "ClientProtocolError", error: this.noRoute(address) })
    }
  })
}

const serverProtocol = (network: Network, self: RunnerAddress.RunnerAddress) =>
  Layer.effect(
    RpcServer.Protocol,
    RpcServer.Protocol.make((write) =>
      Effect.gen(function*() {
        const ids = new Set<number>()
        const disconnects = yield* Queue.make<number>()
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            network.servers.set(keyOf(self), (id, data) => {
              ids.add(id)
              return write(id, data)
            })
          ),
          () => Effect.sync(() => network.servers.delete(keyOf(self)))
        )
        return {
          disconnects,
          clientIds: Effect.sync(() => ids),
          initialMessage: Effect.succeed(Option.none()),
          send: (id, data) => network.reply(id, data),
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

const clientProtocol = (network: Network, self: RunnerAddress.RunnerAddress) =>
  Layer.succeed(Runners.RpcClientProtocol, {
    codecFor: Schema.toCodecJson,
    make: (address) =>
      RpcClient.Protocol.make((writeResponse) =>
        Effect.sync(() => {
          const connections = new Map<number, number>()
          const reach = () => network.servers.get(keyOf(address))
          return {
            supportsAck: true,
            supportsTransferables: false,
            codecFor: Schema.toCodecJson,
            send: Effect.fnUntraced(function*(clientId: number, data: RpcMessage.FromClientEncoded) {
              // A refusal takes its time, too; without it a caller that tries again at once would stop the clock.
              if (reach() === undefined || !network.servers.has(keyOf(self))) {
                yield* network.hop
                return yield* network.noRoute(address)
              }
              let id = connections.get(clientId)
              if (id === undefined) {
                id = network.open(keyOf(address), (reply) => {
                  if (reply._tag === "ClientProtocolError") connections.delete(clientId)
                  return Effect.andThen(network.hop, Effect.suspend(() => {
                    network.log.push(`${keyOf(address)}>${keyOf(self)} ${reply._tag}`)
                    return writeResponse(clientId, reply)
                  }))
                })
                connections.set(clientId, id)
              }
              yield* network.hop
              network.log.push(`${keyOf(self)}>${keyOf(address)} ${data._tag}`)
              const server = reach()
              if (server === undefined) return yield* network.noRoute(address)
              yield* server(id, data)
            })
          }
        })
      )
  })

/** The cluster of one node: real sharding over the simulated network and leases. */
export const layer = (network: Network, leases: Leases, address: RunnerAddress.RunnerAddress) =>
  RunnerServer.layerWithClients.pipe(
    Layer.provide(RunnerHealth.layerPing.pipe(Layer.provide(Runners.layerRpc))),
    Layer.provide([serverProtocol(network, address), clientProtocol(network, address)]),
    Layer.provide(Layer.succeed(RunnerStorage.RunnerStorage, leases.storage)),
    Layer.provide(ShardingConfig.layer({
      runnerAddress: Option.some(address),
      shardsPerGroup: 12,
      shardLockExpiration: 6000,
      shardLockRefreshInterval: 2000,
      runnerHealthCheckInterval: 2000,
      refreshAssignmentsInterval: 1000,
      entityMessagePollInterval: 1000,
      runnerJoinDebounce: 500,
      simulateRemoteSerialization: false
    }))
  )
