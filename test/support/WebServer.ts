import { NodeCrypto, NodeHttpServer, NodeServices } from "@effect/platform-node"
import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { SqlClient } from "effect/sql"
import * as ActivityPub from "../../src/http/activitypub/Routes.ts"
import * as Body from "../../src/http/body/Body.ts"
import { routerConfig } from "../../src/http/body/RequestPaths.ts"
import * as Edge from "../../src/http/Edge.ts"
import { Guard } from "../../src/http/guard/Guard.ts"
import { Limits } from "../../src/http/guard/Limits.ts"
import * as ApiDocs from "../../src/http/pages/ApiDocs.ts"
import * as SignInPages from "../../src/http/pages/OAuthPages.ts"
import * as Pages from "../../src/http/pages/Routes.ts"
import { AccountViews } from "../../src/http/render/AccountViews.ts"
import { ScheduledStatusViews } from "../../src/http/render/ScheduledStatusViews.ts"
import { SearchViews } from "../../src/http/render/SearchViews.ts"
import { StatusViews } from "../../src/http/render/StatusViews.ts"
import * as Instance from "../../src/http/v1/Instance.ts"
import * as Markers from "../../src/http/v1/Markers.ts"
import * as Placeholders from "../../src/http/v1/Placeholders.ts"
import * as Preferences from "../../src/http/v1/Preferences.ts"
import * as ScheduledStatuses from "../../src/http/v1/ScheduledStatuses.ts"
import * as Search from "../../src/http/v1/Search.ts"
import * as Tags from "../../src/http/v1/Tags.ts"
import * as WellKnown from "../../src/http/wellknown/Routes.ts"
import { outbound } from "../../src/layers/Foundation.ts"
import * as Tools from "../../src/layers/media/Tools.ts"
import * as PasswordHashing from "../../src/layers/PasswordHashing.ts"
import * as Services from "../../src/layers/Services.ts"
import { Broadcast } from "../../src/services/Broadcast.ts"
import { Mailer } from "../../src/services/emails/Mailer.ts"
import { Unavailable } from "../../src/services/Errors.ts"
import { FetchedPosts } from "../../src/services/federation/fetching/FetchedPosts.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import { Handles } from "../../src/services/identity/Handles.ts"
import type { AccountId } from "../../src/services/Ids.ts"
import { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { configuration } from "./Reads.ts"
import { TestDatabase } from "./TestDatabase.ts"

export class Api extends HttpApi.make("murmuration")
  .add(Instance.InstanceGroup)
  .add(Placeholders.PlaceholdersGroup)
  .add(Markers.MarkersGroup)
  .add(Preferences.PreferencesGroup)
  .add(ScheduledStatuses.ScheduledStatusesGroup)
  .add(Search.SearchGroup)
  .add(Tags.TagsGroup)
{}

const groups = Layer.mergeAll(
  Instance.layer,
  Placeholders.layer,
  Markers.layer,
  Preferences.layer,
  ScheduledStatuses.layer,
  Search.layer,
  Tags.layer
)

const views = Layer.mergeAll(ScheduledStatusViews.layer, SearchViews.layer).pipe(
  Layer.provideMerge(StatusViews.layer),
  Layer.provideMerge(AccountViews.layer)
)

const routes = Layer.mergeAll(
  ActivityPub.layer,
  Edge.layer,
  Body.layer,
  ApiDocs.layer(Api),
  Pages.layer,
  SignInPages.layer,
  WellKnown.layer,
  HttpApiBuilder.layer(Api).pipe(Layer.provide(groups), Layer.provide(Guard.layer))
).pipe(Layer.provide(ActivityPub.documents))

/** There are no actors that could store anything. */
const noImports = Layer.succeed(FetchedPosts, {
  store: () => new Unavailable(),
  feature: () => new Unavailable(),
  featureTags: () => new Unavailable()
})
const noMail = Layer.succeed(Mailer, { send: () => Effect.void })

/** What the server says about itself and shows to everybody, behind HTTP on a port and over a database of its own. */
export const server = (config: Partial<ServerConfig["Service"]> = {}) =>
  HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
    Layer.provide(views),
    Layer.provideMerge(NodeHttpServer.layerTest),
    Layer.provideMerge(Limits.layerOff),
    Layer.provideMerge(Layer.mergeAll(Services.layer, Handles.layer)),
    Layer.provideMerge(
      Layer.mergeAll(PasswordHashing.layerSimulation, Tools.layer, noMail, noImports, Feeds.layerMemory, outbound)
    ),
    Layer.provideMerge(Layer.mergeAll(Broadcast.layerMemory, NodeCrypto.layer, NodeServices.layer, TestDatabase.layer)),
    Layer.provideMerge(Layer.succeed(ServerConfig, { ...configuration, signupConfirmation: "none", ...config }))
  )

/** Inserts a status as its author's actor leaves it. */
export const status = Effect.fnUntraced(function*(author: AccountId, text: string, more: {
  readonly visibility?: "public" | "unlisted" | "private" | "direct"
  readonly html?: string
  readonly spoilerText?: string
  readonly inReplyTo?: bigint
  readonly reblogOf?: bigint
  readonly tag?: string
} = {}) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const at = new Date(now)
  const [row] = yield* sql<{ id: bigint }>`
    INSERT INTO statuses (id, account_id, text, html, spoiler_text, visibility, in_reply_to_id, reblog_of_id, conversation_id, created_at)
    VALUES (next_id(${now}), ${author}, ${text}, ${more.html ?? `<p>${text}</p>`}, ${more.spoilerText ?? ""},
      ${more.visibility ?? "public"}, ${more.inReplyTo ?? null}, ${more.reblogOf ?? null}, 1, ${at}) RETURNING id`
  const { id } = row!
  yield* sql`INSERT INTO status_stats (status_id) VALUES (${id})`
  if (more.tag !== undefined) {
    yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (next_id(${now}), ${more.tag}, ${more.tag}, ${at})
      ON CONFLICT DO NOTHING`
    yield* sql`INSERT INTO statuses_tags (tag_id, status_id) SELECT id, ${id} FROM tags WHERE name = ${more.tag}`
  }
  return id
})
