import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, type Redacted } from "effect"
import type { Sharding } from "effect/cluster"
import { Limits } from "../http/guard/Limits.ts"
import { DomainPolicies } from "../services/federation/domains/DomainPolicies.ts"
import { Feeds } from "../services/feeds/Feeds.ts"
import { Outbound } from "../services/outbound/Outbound.ts"
import * as RestoreMark from "./backup/RestoreMark.ts"
import * as Broadcasts from "./Broadcasts.ts"
import * as Cluster from "./Cluster.ts"
import * as ConfiguredTranslator from "./ConfiguredTranslator.ts"
import * as Database from "./Database.ts"
import * as DatabaseClock from "./DatabaseClock.ts"
import * as DnsMailExchanges from "./DnsMailExchanges.ts"
import * as WalArchive from "./embedded/WalArchive.ts"
import { EmbeddedPostgres } from "./EmbeddedPostgres.ts"
import { Environment, serverConfig } from "./Environment.ts"
import * as ForgottenDatabase from "./ForgottenDatabase.ts"
import { Handover } from "./Handover.ts"
import * as Mail from "./Mail.ts"
import type { OperatorError } from "./OperatorError.ts"
import * as UndiciTransport from "./outbound/UndiciTransport.ts"
import * as PasswordHashing from "./PasswordHashing.ts"
import { PostgresChannel } from "./PostgresChannel.ts"
import * as Provider from "./Provider.ts"
import * as WebPush from "./push/WebPush.ts"
import { Redis } from "./Redis.ts"
import * as RedisFeeds from "./redis/RedisFeeds.ts"
import * as RedisLimits from "./redis/RedisLimits.ts"
import * as ServerSecrets from "./ServerSecrets.ts"
import type { ShardReleases } from "./ShardReleases.ts"
import * as SingleServer from "./SingleServer.ts"
import * as StartChecks from "./StartChecks.ts"

/** The database of `DATABASE_URL`, or the embedded one. */
const database = Layer.unwrap(Effect.gen(function*() {
  const { databaseConnections: maxConnections, databaseUrl, dataDir, walArchiveDir } = yield* Environment
  const handover = yield* Handover
  yield* StartChecks.check
  yield* RestoreMark.refuse(dataDir)
  if (databaseUrl === undefined) {
    yield* WalArchive.choose(dataDir, walArchiveDir)
    return Database.layerEmbedded(maxConnections).pipe(
      Layer.provide(EmbeddedPostgres.layer({ dataDir, adopt: true, handover }))
    )
  }
  yield* ForgottenDatabase.refuse(databaseUrl, dataDir)
  return Database.layerAt({ url: databaseUrl, maxConnections })
}))

const inMemory = (rateLimits: boolean) =>
  Layer.mergeAll(Feeds.layerMemory, Broadcasts.layer, rateLimits ? Limits.layerMemory : Limits.layerOff)

const inRedis = (url: Redacted.Redacted<string>, rateLimits: boolean) =>
  Layer.mergeAll(RedisFeeds.layer, Broadcasts.layer, rateLimits ? RedisLimits.layer : Limits.layerOff).pipe(
    Layer.provide(Redis.layer(url))
  )

/** Feeds, broadcasts and limits: in memory for a single process, in Redis for a cluster. */
const shared = Layer.unwrap(
  Effect.map(
    Environment,
    ({ redisUrl, server: { rateLimits } }) =>
      redisUrl === undefined ? inMemory(rateLimits) : inRedis(redisUrl, rateLimits)
  )
)

const actors = (environment: Environment["Service"]): Layer.Layer<
  Sharding.Sharding | ShardReleases,
  OperatorError,
  Database.HeldSessions | Handover
> =>
  environment.cluster === undefined
    ? Cluster.layerSingle.pipe(Layer.provide(SingleServer.layer))
    : Cluster.layerNode(environment.cluster.host, environment.cluster.port, environment.shardGroups)

/** The only way for requests to other servers. */
export const outbound = Outbound.layer.pipe(Layer.provide([UndiciTransport.layer, DomainPolicies.layerHostPolicy]))

const cluster = Layer.unwrap(Effect.map(Environment, actors))

/**
 * Foundation of the server, as configured: database, feeds and broadcasts, limits, the cluster of actors, secrets, mail
 * and Node's services. Only `Environment` is left to provide.
 */
export const layer = Layer.satisfiesServicesType<Environment>()(
  Layer.mergeAll(
    cluster,
    outbound,
    WebPush.layer,
    Mail.layer,
    DnsMailExchanges.layer,
    PasswordHashing.layer,
    Provider.layer,
    ConfiguredTranslator.layer
  ).pipe(
    Layer.provideMerge(ServerSecrets.layer),
    Layer.provideMerge(shared),
    Layer.provideMerge(PostgresChannel.layer),
    Layer.provideMerge(DatabaseClock.layer),
    Layer.provideMerge(database),
    Layer.provideMerge(Handover.layer),
    Layer.provideMerge(serverConfig),
    Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
  )
)
