import { NodeCrypto, NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import * as Body from "../../src/http/body/Body.ts"
import { routerConfig } from "../../src/http/body/RequestPaths.ts"
import * as Edge from "../../src/http/Edge.ts"
import { Guard } from "../../src/http/guard/Guard.ts"
import { Limits } from "../../src/http/guard/Limits.ts"
import { ConversationViews } from "../../src/http/render/ConversationViews.ts"
import { FeaturedTagViews } from "../../src/http/render/FeaturedTagViews.ts"
import { NotificationGroupViews } from "../../src/http/render/NotificationGroupViews.ts"
import { NotificationViews } from "../../src/http/render/NotificationViews.ts"
import { RevisionViews } from "../../src/http/render/RevisionViews.ts"
import * as AccountConnections from "../../src/http/v1/AccountConnections.ts"
import * as Accounts from "../../src/http/v1/Accounts.ts"
import * as Bookmarks from "../../src/http/v1/Bookmarks.ts"
import * as Conversations from "../../src/http/v1/Conversations.ts"
import * as NotificationGroups from "../../src/http/v1/NotificationGroups.ts"
import * as Notifications from "../../src/http/v1/Notifications.ts"
import * as OwnLists from "../../src/http/v1/OwnLists.ts"
import * as Statuses from "../../src/http/v1/Statuses.ts"
import * as Timelines from "../../src/http/v1/Timelines.ts"
import * as DiscoveryServices from "../../src/services/discovery/Search.ts"
import { PollRefreshes } from "../../src/services/federation/fetching/PollRefreshes.ts"
import { RemoteProfiles } from "../../src/services/federation/fetching/RemoteProfiles.ts"
import { Threads } from "../../src/services/federation/fetching/Threads.ts"
import { Feeds } from "../../src/services/feeds/Feeds.ts"
import * as GroupServices from "../../src/services/feeds/GroupedNotifications.ts"
import { HomeTimelines } from "../../src/services/feeds/HomeTimelines.ts"
import * as NotificationServices from "../../src/services/feeds/Notifications.ts"
import * as TimelineServices from "../../src/services/feeds/Timelines.ts"
import { AccountId } from "../../src/services/Ids.ts"
import type { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { Reports } from "../../src/services/moderation/Reports.ts"
import { Tokens } from "../../src/services/oauth/Tokens.ts"
import { OpaqueSecrets } from "../../src/services/OpaqueSecrets.ts"
import { AccountNotes } from "../../src/services/social/AccountNotes.ts"
import { Blocks } from "../../src/services/social/Blocks.ts"
import { FollowLists } from "../../src/services/social/FollowLists.ts"
import { Mutes } from "../../src/services/social/Mutes.ts"
import { Relationships } from "../../src/services/social/Relationships.ts"
import { AccountStatuses } from "../../src/services/statuses/AccountStatuses.ts"
import * as BookmarkServices from "../../src/services/statuses/Bookmarks.ts"
import { Contexts } from "../../src/services/statuses/Contexts.ts"
import * as ConversationServices from "../../src/services/statuses/Conversations.ts"
import { FeaturedTags } from "../../src/services/statuses/FeaturedTags.ts"
import { History } from "../../src/services/statuses/History.ts"
import { Interactions } from "../../src/services/statuses/Interactions.ts"
import { reads } from "./Reads.ts"
import { get, send } from "./SignInServer.ts"

class Api extends HttpApi.make("murmuration")
  .add(AccountConnections.AccountConnectionsGroup)
  .add(Accounts.AccountsGroup)
  .add(Bookmarks.BookmarksGroup)
  .add(Conversations.ConversationsGroup)
  .add(NotificationGroups.NotificationGroupsGroup)
  .add(Notifications.NotificationsGroup)
  .add(OwnLists.OwnListsGroup)
  .add(Statuses.StatusesGroup)
  .add(Timelines.TimelinesGroup)
{}

const groups = Layer.mergeAll(
  AccountConnections.layer,
  Accounts.layer,
  Bookmarks.layer,
  Conversations.layer,
  NotificationGroups.layer,
  Notifications.layer,
  OwnLists.layer,
  Statuses.layer,
  Timelines.layer
)

const views = Layer.mergeAll(
  ConversationViews.layer,
  FeaturedTagViews.layer,
  NotificationGroupViews.layer,
  NotificationViews.layer,
  RevisionViews.layer
)

const services = Layer.mergeAll(
  AccountStatuses.layer,
  BookmarkServices.Bookmarks.layer,
  FollowLists.layer,
  Contexts.layer,
  ConversationServices.Conversations.layer,
  DiscoveryServices.Search.layer,
  Blocks.layer,
  Mutes.layer,
  FeaturedTags.layer,
  History.layer,
  HomeTimelines.layer,
  Interactions.layer,
  AccountNotes.layer,
  Relationships.layer,
  Reports.layer,
  TimelineServices.Timelines.layer,
  GroupServices.GroupedNotifications.layer
).pipe(Layer.provideMerge(NotificationServices.Notifications.layer), Layer.provideMerge(Feeds.layerMemory))

const routes = Layer.mergeAll(
  Edge.layer,
  Body.layer,
  HttpApiBuilder.layer(Api).pipe(Layer.provide(groups), Layer.provide(Guard.layer))
)

/** Everything that reads, behind HTTP on a port and over a database of its own. */
export const server = (config: Partial<ServerConfig["Service"]> = {}) =>
  HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
    Layer.provide(views),
    Layer.provideMerge(services),
    Layer.provideMerge(NodeHttpServer.layerTest),
    Layer.provideMerge(
      Layer.mergeAll(Limits.layerOff, PollRefreshes.layerNone, RemoteProfiles.layerNone, Threads.layerNone)
    ),
    Layer.provideMerge(Tokens.layer),
    Layer.provideMerge(OpaqueSecrets.layer),
    Layer.provideMerge(NodeCrypto.layer),
    Layer.provideMerge(reads(config))
  )

/** A token of an account. */
export const token = Effect.fnUntraced(
  function*(account: bigint, scopes: ReadonlyArray<string> = ["read", "write", "follow"]) {
    const { secret } = yield* (yield* Tokens).issue({ appId: undefined, accountId: AccountId.make(account) }, scopes)
    return Redacted.value(secret)
  }
)

/** The ids that a list answers with. */
export const ids = (path: string, bearer?: string) =>
  Effect.map(get(path, bearer), ({ body, status, text }): ReadonlyArray<string> => {
    if (status !== 200 || !Array.isArray(body)) throw new Error(`${path}: ${status} ${text}`)
    return body.map(({ id }: { readonly id: string }) => id)
  })

/** The addresses of a `Link` header by their relation, without the server's own. */
export const links = (headers: Headers): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from((headers.get("link") ?? "").matchAll(/<([^>]+)>; rel="(\w+)"/g), ([, url = "", rel = ""]) => {
      const { pathname, search } = new URL(url)
      return [rel, pathname + search]
    })
  )

export const post = (path: string, bearer: string, json: unknown = {}) =>
  send(path, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: JSON.stringify(json)
  })
