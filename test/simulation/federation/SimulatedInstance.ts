import { Context, Effect, Layer, Option, Scope } from "effect"
import { MessageStorage, RunnerHealth, Runners, RunnerStorage, Sharding, ShardingConfig } from "effect/cluster"
import { HttpBody, HttpClientRequest, HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { SliceRows, sliceRowsMax } from "../../../src/actors/account/fanout/Slice.ts"
import * as FetchedPosts from "../../../src/actors/account/inbox/InboxFetchedPosts.ts"
import * as JobRunner from "../../../src/actors/agenda/JobRunner.ts"
import * as ActivityPubRoutes from "../../../src/http/activitypub/ActivityPubRoutes.ts"
import * as Inboxes from "../../../src/http/activitypub/Inboxes.ts"
import { routerConfig } from "../../../src/http/body/RequestPaths.ts"
import * as Edge from "../../../src/http/Edge.ts"
import { Limits } from "../../../src/http/guard/Limits.ts"
import * as WellKnownRoutes from "../../../src/http/wellknown/WellKnownRoutes.ts"
import * as Actors from "../../../src/layers/Actors.ts"
import { originChecks } from "../../../src/layers/Federation.ts"
import * as Services from "../../../src/layers/Services.ts"
import { Broadcast, UncommittedPublish } from "../../../src/services/events/Broadcast.ts"
import { DomainPolicies } from "../../../src/services/federation/domains/DomainPolicies.ts"
import { RemoteLookup } from "../../../src/services/federation/RemoteLookup.ts"
import { Feeds } from "../../../src/services/feeds/Feeds.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { MailExchanges } from "../../../src/services/moderation/MailExchanges.ts"
import { IdentityProvider } from "../../../src/services/oidc/IdentityProvider.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { PushMessages } from "../../../src/services/push/PushMessages.ts"
import { Translator } from "../../../src/services/translation/Translator.ts"
import { configurationOf } from "../../support/Configuration.ts"
import type { Database } from "../Databases.ts"
import { Machine } from "../Machine.ts"
import * as Performed from "../Performed.ts"
import { Dice } from "../Seeded.ts"
import { Session } from "../Session.ts"
import { unusedServices } from "../UnusedServices.ts"
import { client } from "../World.ts"
import type { Incoming, Reply } from "./Exchange.ts"
import * as Keys from "./Keys.ts"
import type { Universe } from "./Universe.ts"

/** A running server, complete except for its client API, on its own machine. */
export interface Process {
  readonly machine: Machine
  readonly actors: AccountActors["Service"]
  readonly lookup: RemoteLookup["Service"]
}

/** A server of a run: its database, and its current process, if any. */
export interface SimulatedServer {
  readonly host: string
  readonly session: Session
  readonly sql: SqlClient.SqlClient
  readonly keys: { generated: number }
  /** Number of processes started. */
  started: number
  process: Process | undefined
}

class Handler extends Context.Service<Handler, {
  readonly respond: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    unknown,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
}>()("murmuration/test/simulation/federation/Handler") {}

const config = (host: string) => Layer.succeed(ServerConfig, configurationOf(host, { rateLimits: false }))

/** Routes for other servers. */
const routes = Layer.mergeAll(Edge.layer, ActivityPubRoutes.layer, Inboxes.layer, WellKnownRoutes.layer).pipe(
  Layer.provide(ActivityPubRoutes.documents),
  Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig))
)

const handler = Layer.effect(
  Handler,
  Effect.map(HttpRouter.toHttpEffect(routes), (respond) => Handler.of({ respond }))
)

const cluster = Sharding.layer.pipe(
  Layer.provideMerge(Runners.layerNoop),
  Layer.provideMerge(MessageStorage.layerNoop),
  Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(ShardingConfig.layer({ shardsPerGroup: 4, simulateRemoteSerialization: false }))
)

/** Push messages, which no run sends. */
const noPhones = Layer.succeed(PushMessages, { message: () => Effect.die("no phones") })

const actors = Actors.layerOverCommands.pipe(
  Layer.provide(originChecks.pipe(Layer.provide(FetchedPosts.layer), Layer.provide(AccountActors.layer)))
)

const server = Layer.merge(handler, JobRunner.layer).pipe(
  Layer.provideMerge(Services.layer),
  Layer.provideMerge(actors),
  Layer.provideMerge(Outbound.layer.pipe(Layer.provide(DomainPolicies.layerHostPolicy))),
  Layer.provide([cluster, Feeds.layerMemory, Broadcast.layerMemory, unusedServices, noPhones])
)

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Uint8Array => {
  if (body._tag === "Empty") return new Uint8Array()
  if (body._tag === "Uint8Array") return body.body
  throw new Error(`a response of the kind ${body._tag}`)
}

const typeOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Empty" || body.contentType === undefined ? {} : { "content-type": body.contentType }

/** Converts a request to the form in which the HTTP layer passes it to the router. */
const requestOf = ({ body, from, headers, method, url }: Incoming) =>
  HttpServerRequest.fromClientRequest(
    HttpClientRequest.make(method)(url.pathname + url.search, {
      headers: { ...headers },
      ...(method === "POST" ? { body: HttpBody.uint8Array(body, headers["content-type"]) } : {})
    })
  ).modify({ url: url.pathname + url.search, remoteAddress: Option.some(from) })

const respondingHost = (respond: Handler["Service"]["respond"]) => (request: Incoming): Effect.Effect<Reply> =>
  respond.pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, requestOf(request)),
    Effect.map((response) => ({
      status: response.status,
      headers: { ...response.headers, ...typeOf(response) },
      body: bytesOf(response)
    })),
    Effect.scoped,
    Effect.orDie
  )

/**
 * Share of seeds with slow databases, and the maximum delay of a message to them, in milliseconds: changes happen while
 * earlier ones are still being delivered.
 */
const slowShare = 0.3
const delayMillisMax = 15

/** Creates a server with a database without accounts. */
export const make = Effect.fnUntraced(function*(universe: Universe, database: Database, host: string) {
  const { outside, seed, time } = universe
  const delay = new Dice(seed, "lag").chance(slowShare) ? delayMillisMax : 0
  const session = new Session(database, time, new Dice(seed, `session ${host}`), universe.mutation.sql, delay)
  session.unowned = ({ name }) =>
    universe.wrong.push(`I13: ${name} processes inbound activities without an ownership check`)
  const context = yield* Layer.build(client(session, outside, 2))
  const site: SimulatedServer = {
    host,
    session,
    sql: Context.get(context, SqlClient.SqlClient),
    keys: { generated: 0 },
    started: 0,
    process: undefined
  }
  return site
})

const withoutServices = Layer.merge(Layer.succeed(Translator, undefined), Layer.succeed(IdentityProvider, undefined))

/** I28: publishes only committed changes on the bus. */
const uncommitted = ({ wrong }: Universe) => ({ _tag }: { readonly _tag: string }) =>
  Effect.sync(() => void wrong.push(`I28: ${_tag} is published inside an open transaction`))

/** Starts the server; it is reachable when this completes. */
export const start = Effect.fnUntraced(function*(universe: Universe, site: SimulatedServer) {
  const { base, outside, seed, time, web } = universe
  const { host, session } = site
  const machine = new Machine(time, base, seed, `${host}/${++site.started}`)
  // In most seeds a slice has one row, so that few followers make several slices.
  const slices = new Dice(seed, "slices").pick([1, 1, sliceRowsMax])
  const layer = server.pipe(
    Layer.provide(Layer.fresh(Performed.commands(universe, machine))),
    Layer.provide(web.transport(host, machine)),
    Layer.provide(client(session, machine, 4)),
    Layer.provide([
      config(host),
      Keys.layer(host, site.keys),
      Layer.succeed(SliceRows, slices),
      MailExchanges.layerOf(),
      Limits.layerOff,
      withoutServices,
      Layer.succeed(UncommittedPublish, uncommitted(universe))
    ])
  )
  const scope = Scope.makeUnsafe()
  const built = yield* machine.on(outside)(Effect.orDie(Scope.provide(Layer.build(Layer.fresh(layer)), scope)))
  web.listen(host, { machine, reply: respondingHost(Context.get(built, Handler).respond) })
  site.process = { machine, actors: Context.get(built, AccountActors), lookup: Context.get(built, RemoteLookup) }
  return site.process
})
