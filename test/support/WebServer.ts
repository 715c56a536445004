import { NodeCrypto, NodeHttpServer, NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer, Queue } from "effect"
import { HttpRouter } from "effect/http"
import * as EmailRunner from "../../src/actors/agenda/EmailRunner.ts"
import * as Body from "../../src/http/body/Body.ts"
import { routerConfig } from "../../src/http/body/RequestPaths.ts"
import * as Edge from "../../src/http/Edge.ts"
import { Limits } from "../../src/http/guard/Limits.ts"
import { AccountViews } from "../../src/http/render/AccountViews.ts"
import * as Routes from "../../src/http/Routes.ts"
import * as Actors from "../../src/layers/Actors.ts"
import * as CatalogFiles from "../../src/layers/CatalogFiles.ts"
import { outbound } from "../../src/layers/Foundation.ts"
import * as Media from "../../src/layers/Media.ts"
import * as NodeWebSockets from "../../src/layers/NodeWebSockets.ts"
import * as PasswordHashing from "../../src/layers/PasswordHashing.ts"
import * as Provider from "../../src/layers/Provider.ts"
import * as WebPush from "../../src/layers/push/WebPush.ts"
import * as ServerSecrets from "../../src/layers/ServerSecrets.ts"
import * as Services from "../../src/layers/Services.ts"
import { type Email, Mailer } from "../../src/services/emails/Mailer.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { FetchedPosts } from "../../src/services/federation/fetching/FetchedPosts.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { MailExchanges } from "../../src/services/moderation/MailExchanges.ts"
import { Unavailable } from "../../src/services/runtime/Errors.ts"
import { Translator } from "../../src/services/translation/Translator.ts"
import { cluster } from "./Actors.ts"
import { committedOnly } from "./CommittedOnly.ts"
import { environment } from "./MediaJobs.ts"
import { configuration } from "./Reads.ts"
import { recording, RouteTable } from "./RouteTable.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** Sent e-mails, in order. */
export class Postbox extends Context.Service<Postbox, Queue.Queue<Email>>()("murmuration/test/Postbox") {
  static readonly layer = Layer.effect(Postbox, Queue.unbounded<Email>())
  static readonly next = Effect.flatMap(Postbox, Queue.take)
}

const mailer = Layer.effect(
  Mailer,
  Effect.map(Postbox, (emails) => Mailer.of({ send: (email) => Effect.asVoid(Queue.offer(emails, email)) }))
)

const routes = Layer.mergeAll(
  Edge.layer,
  Body.layerWithFiles,
  Routes.layer.pipe(Layer.provide(NodeWebSockets.layer))
).pipe(Layer.provide(recording))

/** Foundation with in-memory or temporary parts; slow parts are left out. */
const foundation = (config: Partial<ServerConfig["Service"]>, credentials: typeof PasswordHashing.layerSimulation) =>
  Layer.mergeAll(
    CatalogFiles.layer,
    Feeds.layerMemory,
    credentials,
    mailer,
    outbound,
    Provider.layer,
    WebPush.layer,
    Layer.succeed(Translator, undefined)
  ).pipe(
    Layer.provideMerge(ServerSecrets.layer),
    Layer.provideMerge(Layer.succeed(ServerConfig, { ...configuration, signupConfirmation: "mail", ...config })),
    Layer.provideMerge(Layer.mergeAll(Broadcast.layerMemory, MailExchanges.layerOf(), Postbox.layer, environment)),
    Layer.provideMerge(Layer.mergeAll(NodeCrypto.layer, NodeServices.layer, TestDatabase.layer, committedOnly))
  )

/** Rejects all fetched posts. */
const nobody = Layer.succeed(FetchedPosts, {
  store: () => new Unavailable(),
  feature: () => new Unavailable(),
  featureTags: () => new Unavailable()
})

/** The server's services without actors, on their own database, with cheap password hashing. */
export const services = Layer.satisfiesServicesType<never>()(
  Services.layer.pipe(
    Layer.provide(nobody),
    Layer.provideMerge(foundation({}, PasswordHashing.layerSimulation))
  )
)

/**
 * The whole server with every route, service and actor, on a port and its own database. Feeds, bus and cluster are in
 * memory; promised e-mails are sent, jobs do not run.
 */
export const server = (
  config: Partial<ServerConfig["Service"]> = {},
  options: { readonly limits?: Layer.Layer<Limits>; readonly credentials?: typeof PasswordHashing.layerSimulation } = {}
) =>
  Layer.satisfiesServicesType<never>()(
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
      Layer.merge(EmailRunner.layer),
      Layer.provideMerge(Layer.merge(NodeHttpServer.layerTest, RouteTable.layer)),
      Layer.provideMerge(Layer.merge(Routes.hub, AccountViews.layer)),
      Layer.provideMerge(options.limits ?? Limits.layerOff),
      Layer.provideMerge(Services.layer),
      Layer.provideMerge(Media.layer),
      Layer.provideMerge(Actors.layerFederated),
      Layer.provideMerge(cluster),
      Layer.provideMerge(foundation(config, options.credentials ?? PasswordHashing.layerSimulation))
    )
  )
