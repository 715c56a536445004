import { Effect } from "effect"
import { ClusterError, MachineId, type Runner, type RunnerAddress, RunnerStorage, type Sharding } from "effect/cluster"
import { Waits } from "../../src/layers/ShardReleases.ts"
import type { VirtualTime } from "./VirtualTime.ts"

export const keyOf = (address: RunnerAddress.RunnerAddress) => `${address.host}:${address.port}`

/** Shard leases by the database's time, like SqlRunnerStorage, which would need its own connections. */
export class Leases {
  private readonly runners = new Map<string, { runner: Runner.Runner; healthy: boolean; seen: number }>()
  private readonly leases = new Map<string, { owner: string; until: number }>()
  /** Shards that each node believes it owns, and for how long it has been releasing others. */
  private readonly owners = new Map<string, { sharding: Sharding.Sharding["Service"]; waits: Waits }>()
  /** Called when a node cannot release a shard. */
  stuck: (address: RunnerAddress.RunnerAddress, shard: string) => void = () => {}
  private machine = 0
  private readonly expiryMillis: number
  private readonly time: VirtualTime
  private readonly refuses: () => boolean

  constructor(expiryMillis: number, time: VirtualTime, refuses: () => boolean) {
    this.expiryMillis = expiryMillis
    this.time = time
    this.refuses = refuses
  }

  private ask<A>(run: (now: number) => A) {
    return Effect.suspend(() =>
      this.refuses()
        ? Effect.fail(new ClusterError.PersistenceError({ cause: "the database system is starting up" }))
        : Effect.succeed(run(this.time.now))
    )
  }

  /** Registers a started node. */
  owner(address: RunnerAddress.RunnerAddress, sharding: Sharding.Sharding["Service"]) {
    this.owners.set(keyOf(address), { sharding, waits: new Waits() })
  }

  readonly storage = RunnerStorage.RunnerStorage.of({
    getRunners: this.ask((now) =>
      [...this.runners.values()].filter(({ seen }) => seen > now - this.expiryMillis)
        .map(({ healthy, runner }) => [runner, healthy] as const)
    ),
    register: (runner, healthy) =>
      this.ask((seen) => {
        this.runners.set(keyOf(runner.address), { runner, healthy, seen })
        return MachineId.make(this.machine++)
      }),
    unregister: (address) => this.ask(() => void this.runners.delete(keyOf(address))),
    setRunnerHealth: (address, healthy) =>
      this.ask(() => {
        const known = this.runners.get(keyOf(address))
        if (known !== undefined) known.healthy = healthy
      }),
    acquire: (address, shards) =>
      this.ask((now) =>
        [...shards].filter((shard) => {
          const lease = this.leases.get(String(shard))
          if (lease !== undefined && lease.owner !== keyOf(address) && lease.until > now) return false
          this.leases.set(String(shard), { owner: keyOf(address), until: now + this.expiryMillis })
          return true
        })
      ),
    refresh: (address, shards) =>
      this.ask((now) => {
        const known = this.runners.get(keyOf(address))
        if (known !== undefined) known.seen = now
        const owner = this.owners.get(keyOf(address))
        const stuck = owner?.waits.stuck(shards, owner.sharding.hasShardId)
        if (stuck !== undefined) this.stuck(address, stuck)
        return [...shards].filter((shard) => {
          const lease = this.leases.get(String(shard))
          if (lease === undefined || lease.owner !== keyOf(address)) return false
          lease.until = now + this.expiryMillis
          return true
        })
      }),
    release: (address, shard) =>
      this.ask(() => {
        if (this.leases.get(String(shard))?.owner === keyOf(address)) this.leases.delete(String(shard))
      }),
    releaseAll: (address) =>
      this.ask(() => {
        for (const [shard, lease] of this.leases) if (lease.owner === keyOf(address)) this.leases.delete(shard)
      })
  })
}
