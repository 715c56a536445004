import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as CardRunner from "../actors/agenda/CardRunner.ts"
import * as DigestRunner from "../actors/agenda/DigestRunner.ts"
import * as EmailRunner from "../actors/agenda/EmailRunner.ts"
import * as JobRunner from "../actors/agenda/JobRunner.ts"
import * as ListRunner from "../actors/agenda/ListRunner.ts"
import * as NewMemberRunner from "../actors/agenda/NewMemberRunner.ts"
import * as NotificationEmailRunner from "../actors/agenda/NotificationEmailRunner.ts"
import * as PushRunner from "../actors/agenda/PushRunner.ts"
import * as SpamRunner from "../actors/agenda/SpamRunner.ts"
import * as TermsRunner from "../actors/agenda/TermsRunner.ts"
import * as TrendReviewRunner from "../actors/agenda/TrendReviewRunner.ts"
import * as WebhookRunner from "../actors/agenda/WebhookRunner.ts"
import * as HostDocumentClient from "../actors/domain/HostDocumentClient.ts"
import * as TransferRunner from "../actors/transfers/TransferRunner.ts"
import * as Body from "../http/body/Body.ts"
import { routerConfig } from "../http/body/RequestPaths.ts"
import * as Deadlines from "../http/deadlines/Deadlines.ts"
import * as Edge from "../http/Edge.ts"
import * as AddressBlocks from "../http/guard/AddressBlocks.ts"
import * as PathLimits from "../http/guard/PathLimits.ts"
import * as Routes from "../http/Routes.ts"
import { Hub } from "../http/streaming/Hub.ts"
import * as WebhookRoutes from "../http/webhooks/index.ts"
import { Cards } from "../services/cards/Cards.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { ObjectFetcher } from "../services/federation/ObjectFetcher.ts"
import { Deliveries } from "../services/federation/outbox/Deliveries.ts"
import { WebFingers } from "../services/federation/WebFingers.ts"
import { AutoClosing } from "../services/identity/AutoClosing.ts"
import { NewMembers } from "../services/identity/NewMembers.ts"
import { NotificationEmails } from "../services/identity/NotificationEmails.ts"
import { TermsEmails } from "../services/identity/TermsEmails.ts"
import { Instance } from "../services/instance/Instance.ts"
import { UserCatalogs } from "../services/instance/UserCatalogs.ts"
import { AgendaEntries } from "../services/intents/AgendaEntries.ts"
import { Pushes } from "../services/intents/Pushes.ts"
import { ListSync } from "../services/lists/ListSync.ts"
import { FileOwners } from "../services/media/FileOwners.ts"
import { StoredFiles } from "../services/media/StoredFiles.ts"
import { Backlogs } from "../services/metrics/Backlogs.ts"
import { ServerFigures } from "../services/metrics/ServerFigures.ts"
import { CardPictures } from "../services/previews/CardPictures.ts"
import { Creators } from "../services/previews/Creators.ts"
import { Pages } from "../services/previews/LinkedPages.ts"
import { Previews } from "../services/previews/Previews.ts"
import { PushContents } from "../services/push/PushContents.ts"
import { SealedTokens } from "../services/push/SealedTokens.ts"
import { ResponseSeconds } from "../services/runtime/ResponseSeconds.ts"
import { EmailDigests } from "../services/subscriptions/EmailDigests.ts"
import { ArchiveParts } from "../services/transfers/archives/ArchiveParts.ts"
import { ArchiveReader } from "../services/transfers/archives/ArchiveReader.ts"
import { ArchiveRequests } from "../services/transfers/archives/ArchiveRequests.ts"
import { ArchiveWriter } from "../services/transfers/archives/ArchiveWriter.ts"
import { ImportedPosts } from "../services/transfers/archives/ImportedPosts.ts"
import { ImportLines } from "../services/transfers/ImportLines.ts"
import { LiveImports } from "../services/transfers/live/LiveImports.ts"
import { LiveSources } from "../services/transfers/live/LiveSources.ts"
import { TransferQueue } from "../services/transfers/TransferQueue.ts"
import { Transfers } from "../services/transfers/Transfers.ts"
import { TrendReviewEmails } from "../services/trends/TrendReviewEmails.ts"
import { Webhooks } from "../services/webhooks/Webhooks.ts"
import * as Actors from "./Actors.ts"
import * as CatalogFiles from "./CatalogFiles.ts"
import * as Compression from "./Compression.ts"
import { Environment } from "./Environment.ts"
import * as Foundation from "./Foundation.ts"
import { Handover } from "./Handover.ts"
import * as HttpServer from "./HttpServer.ts"
import * as ManualFiles from "./ManualFiles.ts"
import * as Media from "./Media.ts"
import * as NodeKeyOperations from "./NodeKeyOperations.ts"
import * as NodeReports from "./NodeReports.ts"
import * as NodeWebSockets from "./NodeWebSockets.ts"
import * as OperatorWakes from "./OperatorWakes.ts"
import * as Services from "./Services.ts"
import * as Telemetry from "./Telemetry.ts"
import * as SlowStatements from "./telemetry/SlowStatements.ts"

/** Gauges of `/metrics` that need the database and the actors. */
const figures = ServerFigures.layer.pipe(
  Layer.provide([AgendaEntries.layer, Backlogs.layer, Deliveries.layer, InboundActivities.layer, Instance.layer])
)

const routes = Layer.mergeAll(
  Edge.layer,
  Body.layerWithFiles,
  Deadlines.layer,
  HttpServer.layerRouter,
  // Runs after the middleware that resolves addresses behind proxies.
  AddressBlocks.layer,
  PathLimits.layer,
  Compression.layer,
  Telemetry.layerRouter.pipe(Layer.provide(figures)),
  Routes.layer.pipe(Layer.provide(NodeWebSockets.layer))
)

const served = HttpRouter.serve(routes, { routerConfig, disableLogger: true, disableListenLog: true })

/** Fetches link previews. */
const cards = CardRunner.layer.pipe(
  Layer.provide(Previews.layerNoDeps),
  Layer.provide([Cards.layer, CardPictures.layer, Creators.layer, Pages.layer, StoredFiles.layer]),
  Layer.provide(NodeKeyOperations.layer)
)

/** Sends push notifications. */
const pushes = PushRunner.layer.pipe(
  Layer.provide(PushContents.layerNoDeps),
  Layer.provide([Pushes.layer, SealedTokens.layer, UserCatalogs.layer])
)

/** Sends staff e-mails about trends. */
const trendReviews = TrendReviewRunner.layer.pipe(Layer.provide(TrendReviewEmails.layer))

/** Syncs moderation lists. */
const lists = ListRunner.layer.pipe(Layer.provide(ListSync.layer))

/** Welcomes new members. */
const newMembers = NewMemberRunner.layer.pipe(Layer.provide([AutoClosing.layer, NewMembers.layer]))

/** Sends e-mail digests. */
const digests = DigestRunner.layer.pipe(Layer.provide(EmailDigests.layer))

/** Promises e-mails about notifications. */
const notificationEmails = NotificationEmailRunner.layer.pipe(Layer.provide(NotificationEmails.layer))

/** Sends e-mails about new terms of service. */
const terms = TermsRunner.layer.pipe(Layer.provide(TermsEmails.layer))

/** Runs imports and exports of accounts. */
const transfers = TransferRunner.layer.pipe(
  Layer.provide([
    ArchiveReader.layer,
    ArchiveRequests.layer,
    ArchiveWriter.layer,
    ImportedPosts.layer,
    ImportLines.layer,
    LiveImports.layer,
    LiveSources.layer,
    TransferQueue.layer,
    Transfers.layer
  ]),
  Layer.provide([ArchiveParts.layer, ObjectFetcher.layer, WebFingers.layer]),
  Layer.provide([FileOwners.layer, NodeKeyOperations.layer, StoredFiles.layer])
)

/** Calls webhooks. */
const webhooks = WebhookRunner.layer.pipe(Layer.provide([WebhookRoutes.objects, Webhooks.layer]))

const responseSeconds = Layer.effect(
  ResponseSeconds,
  Effect.map(Environment, ({ responseSeconds }) => responseSeconds)
)

/** The whole server: HTTP, the actors behind it, and their foundation. Needs `Environment`. */
export const layer = Layer.satisfiesServicesType<Environment>()(
  Layer.merge(Hub.layerStop, Handover.layerRestarts).pipe(
    // Streams end before the server waits for its open requests.
    Layer.provideMerge(
      Layer.mergeAll(
        served,
        EmailRunner.layer,
        JobRunner.layer,
        cards,
        pushes,
        trendReviews,
        newMembers,
        lists,
        digests,
        SpamRunner.layer,
        webhooks,
        notificationEmails,
        terms,
        transfers,
        NodeReports.layer,
        SlowStatements.layer
      )
    ),
    Layer.provideMerge(HttpServer.layer),
    Layer.provideMerge(Routes.hub),
    Layer.provide(Services.layer),
    Layer.provideMerge(OperatorWakes.layer),
    Layer.provideMerge(Media.layer),
    Layer.provideMerge(Actors.layerFederated),
    Layer.provideMerge(HostDocumentClient.layer),
    Layer.provide([CatalogFiles.layer, ManualFiles.layer]),
    Layer.provideMerge(Foundation.layer),
    Layer.provide(responseSeconds),
    Layer.provide(Telemetry.layer)
  )
)
