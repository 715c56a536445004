import { Effect, Layer } from "effect"
import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import * as Actors from "../../src/layers/Actors.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { OriginChecks } from "../../src/services/federation/fetching/OriginChecks.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { committedOnly } from "./CommittedOnly.ts"
import { configurationOf } from "./Configuration.ts"
import { eventually } from "./Eventually.ts"
import { noOutbound } from "./NoOutbound.ts"
import { TestDatabase } from "./TestDatabase.ts"

export const config = Layer.succeed(ServerConfig, configurationOf("here.test"))

/** An in-memory runner; nodes of a test that share a database each have their own. */
export const cluster = Sharding.layer.pipe(
  Layer.provideMerge(Runners.layerNoop),
  Layer.provideMerge(MessageStorage.layerMemory),
  Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(ShardingConfig.layer({ simulateRemoteSerialization: true }))
)

/** The actors on one node, with in-memory feeds and bus. The caller provides the database. */
export const node = Actors.layer.pipe(
  Layer.provide(OriginChecks.layerNone),
  Layer.provideMerge(Layer.mergeAll(Feeds.layerMemory, Broadcast.layerMemory)),
  Layer.provide([cluster, noOutbound]),
  Layer.provide([config, committedOnly])
)

/** The actors on their own database. */
export const layerActors = Layer.satisfiesServicesType<never>()(node.pipe(Layer.provideMerge(TestDatabase.layer)))

/** Waits until no account has an open fan-out. */
export const settled = SqlClient.SqlClient.use((sql) =>
  Effect.asVoid(eventually(sql`SELECT FROM fanouts LIMIT 1`, (rows) => rows.length === 0))
)
