import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "./Api.ts"
import { Guard } from "./guard/Guard.ts"
import * as Claims from "./oauth/Claims.ts"
import * as Metadata from "./oauth/Metadata.ts"
import * as OAuth from "./oauth/OAuth.ts"
import * as OAuthPages from "./oauth/Pages.ts"
import { AccountViews } from "./render/Accounts.ts"
import { ConversationViews } from "./render/Conversations.ts"
import { NotificationViews } from "./render/Notifications.ts"
import { RevisionViews } from "./render/Revisions.ts"
import { StatusViews } from "./render/Statuses.ts"
import * as StreamRenderings from "./render/StreamRenderings.ts"
import { Hub } from "./streaming/Hub.ts"
import * as Streaming from "./streaming/Routes.ts"
import * as AccountActions from "./v1/AccountActions.ts"
import * as AccountConnections from "./v1/AccountConnections.ts"
import * as Accounts from "./v1/Accounts.ts"
import * as Apps from "./v1/Apps.ts"
import * as Bookmarks from "./v1/Bookmarks.ts"
import * as Conversations from "./v1/Conversations.ts"
import * as Credentials from "./v1/Credentials.ts"
import * as Emails from "./v1/Emails.ts"
import * as OwnLists from "./v1/OwnLists.ts"
import * as SignUps from "./v1/SignUps.ts"
import * as StatusActions from "./v1/StatusActions.ts"
import * as Statuses from "./v1/Statuses.ts"
import * as StatusWrites from "./v1/StatusWrites.ts"
import * as Timelines from "./v1/Timelines.ts"

const groups = Layer.mergeAll(
  Claims.layer,
  Metadata.layer,
  OAuth.layer,
  AccountActions.layer,
  AccountConnections.layer,
  Accounts.layer,
  Apps.layer,
  Bookmarks.layer,
  Conversations.layer,
  Credentials.layer,
  Emails.layer,
  OwnLists.layer,
  SignUps.layer,
  StatusActions.layer,
  StatusWrites.layer,
  Statuses.layer,
  Timelines.layer
)

const views = Layer.mergeAll(ConversationViews.layer, NotificationViews.layer, RevisionViews.layer).pipe(
  Layer.provideMerge(StatusViews.layer),
  Layer.provideMerge(AccountViews.layer)
)

const api = HttpApiBuilder.layer(Api, { openapiPath: "/api/openapi.json" }).pipe(
  Layer.provide(groups),
  Layer.provide(Guard.layer)
)

const streaming = Streaming.layer.pipe(Layer.provide(Hub.layer), Layer.provide(StreamRenderings.layer))

/** Everything that the server answers, over its services. */
export const layer = Layer.mergeAll(api, OAuthPages.layer, streaming).pipe(Layer.provide(views))
