import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Inboxes from "./activitypub/Inboxes.ts"
import * as ActivityPub from "./activitypub/Routes.ts"
import * as Announcements from "./announcements/index.ts"
import * as Annual from "./annual/index.ts"
import { Api } from "./Api.ts"
import * as Encryption from "./encryption/index.ts"
import * as RemoteFiles from "./files/RemoteFiles.ts"
import * as StoredFiles from "./files/StoredFiles.ts"
import { Guard } from "./guard/Guard.ts"
import { Forms } from "./html/Forms.ts"
import { Visitors } from "./html/Visitors.ts"
import * as Invites from "./invites/index.ts"
import * as ModerationLists from "./lists/index.ts"
import * as Claims from "./oauth/Claims.ts"
import * as Metadata from "./oauth/Metadata.ts"
import * as OAuth from "./oauth/OAuth.ts"
import * as ApiDocs from "./pages/ApiDocs.ts"
import * as OAuthPages from "./pages/OAuthPages.ts"
import * as Pages from "./pages/Routes.ts"
import * as Push from "./push/index.ts"
import * as StreamRenderings from "./render/StreamRenderings.ts"
import * as Spam from "./spam/index.ts"
import * as AdminAccounts from "./staff/api/Accounts.ts"
import * as AdminAccountActions from "./staff/api/AdminAccountActions.ts"
import * as AdminAccountControls from "./staff/api/AdminAccountControls.ts"
import * as AdminAppeals from "./staff/api/AdminAppeals.ts"
import * as AdminAuditLog from "./staff/api/AdminAuditLog.ts"
import * as AdminCanonicalEmailBlocks from "./staff/api/AdminCanonicalEmailBlocks.ts"
import * as AdminCustomEmojis from "./staff/api/AdminCustomEmojis.ts"
import * as AdminDomainAllows from "./staff/api/AdminDomainAllows.ts"
import * as AdminDomainBlocks from "./staff/api/AdminDomainBlocks.ts"
import * as AdminEmailDomainBlocks from "./staff/api/AdminEmailDomainBlocks.ts"
import * as AdminInstances from "./staff/api/AdminInstances.ts"
import * as AdminInstanceUploads from "./staff/api/AdminInstanceUploads.ts"
import * as AdminIpBlocks from "./staff/api/AdminIpBlocks.ts"
import * as AdminMetrics from "./staff/api/AdminMetrics.ts"
import * as AdminRelays from "./staff/api/AdminRelays.ts"
import * as AdminRoles from "./staff/api/AdminRoles.ts"
import * as AdminRules from "./staff/api/AdminRules.ts"
import * as AdminSettings from "./staff/api/AdminSettings.ts"
import * as AdminStatusActions from "./staff/api/AdminStatusActions.ts"
import * as AdminTags from "./staff/api/AdminTags.ts"
import * as AdminTermsEmails from "./staff/api/AdminTermsEmails.ts"
import * as AdminUsernameBlocks from "./staff/api/AdminUsernameBlocks.ts"
import * as AdminWarningPresets from "./staff/api/AdminWarningPresets.ts"
import * as ModerationNotes from "./staff/api/NoteRoutes.ts"
import * as AdminReports from "./staff/api/Reports.ts"
import * as Admin from "./staff/pages/Routes.ts"
import { Hub } from "./streaming/Hub.ts"
import * as Streaming from "./streaming/Routes.ts"
import * as Subscriptions from "./subscriptions/index.ts"
import * as Translation from "./translation/index.ts"
import * as Trends from "./trends/index.ts"
import * as Accounts from "./v1/Accounts.ts"
import * as Apps from "./v1/Apps.ts"
import * as AsyncRefreshes from "./v1/AsyncRefreshes.ts"
import * as Blocks from "./v1/Blocks.ts"
import * as Bookmarks from "./v1/Bookmarks.ts"
import * as Catchups from "./v1/Catchups.ts"
import * as Collections from "./v1/Collections.ts"
import * as Contexts from "./v1/Contexts.ts"
import * as ConversationMutes from "./v1/ConversationMutes.ts"
import * as Conversations from "./v1/Conversations.ts"
import * as Credentials from "./v1/Credentials.ts"
import * as Directory from "./v1/Directory.ts"
import * as DomainBlocks from "./v1/DomainBlocks.ts"
import * as Drafts from "./v1/Drafts.ts"
import * as Emails from "./v1/Emails.ts"
import * as EmojiReactions from "./v1/EmojiReactions.ts"
import * as Endorsements from "./v1/Endorsements.ts"
import * as Favourites from "./v1/Favourites.ts"
import * as FeaturedTags from "./v1/FeaturedTags.ts"
import * as FilterKeywords from "./v1/FilterKeywords.ts"
import * as Filters from "./v1/Filters.ts"
import * as FollowRequests from "./v1/FollowRequests.ts"
import * as Follows from "./v1/Follows.ts"
import * as Instance from "./v1/Instance.ts"
import * as InteractionPolicies from "./v1/InteractionPolicies.ts"
import * as InteractionRequests from "./v1/InteractionRequests.ts"
import * as LegacyFilters from "./v1/LegacyFilters.ts"
import * as ListMembers from "./v1/ListMembers.ts"
import * as Lists from "./v1/Lists.ts"
import * as Markers from "./v1/Markers.ts"
import * as Media from "./v1/Media.ts"
import * as Mutes from "./v1/Mutes.ts"
import * as NotificationGroups from "./v1/NotificationGroups.ts"
import * as NotificationPolicies from "./v1/NotificationPolicies.ts"
import * as NotificationRequests from "./v1/NotificationRequests.ts"
import * as Notifications from "./v1/Notifications.ts"
import * as OEmbeds from "./v1/OEmbeds.ts"
import * as OwnAccount from "./v1/OwnAccount.ts"
import * as Pins from "./v1/Pins.ts"
import * as Polls from "./v1/Polls.ts"
import * as Preferences from "./v1/Preferences.ts"
import * as Quotes from "./v1/Quotes.ts"
import * as Reblogs from "./v1/Reblogs.ts"
import * as Relationships from "./v1/Relationships.ts"
import * as RemoteFollows from "./v1/RemoteFollows.ts"
import * as Reports from "./v1/Reports.ts"
import * as Revisions from "./v1/Revisions.ts"
import * as ScheduledStatuses from "./v1/ScheduledStatuses.ts"
import * as Search from "./v1/Search.ts"
import * as SignUps from "./v1/SignUps.ts"
import * as Statuses from "./v1/Statuses.ts"
import * as Strikes from "./v1/Strikes.ts"
import * as Suggestions from "./v1/Suggestions.ts"
import * as Tags from "./v1/Tags.ts"
import * as Timelines from "./v1/Timelines.ts"
import * as First from "./web/first/index.ts"
import * as Web from "./web/index.ts"
import * as Webhooks from "./webhooks/index.ts"
import * as WellKnown from "./wellknown/Routes.ts"

const groups = Layer.mergeAll(
  Claims.layer,
  Metadata.layer,
  OAuth.layer,
  Accounts.layer,
  AdminMetrics.layer,
  AdminRelays.layer,
  AdminInstances.layer,
  AdminAuditLog.layer,
  AdminCustomEmojis.layer,
  Invites.layer,
  AdminAccountActions.layer,
  AdminAccounts.layer,
  AdminAppeals.layer,
  ModerationNotes.layer,
  AdminReports.layer,
  AdminStatusActions.layer,
  ModerationLists.layer,
  Spam.layer,
  Webhooks.layer,
  AdminWarningPresets.layer,
  AdminAccountControls.layer,
  AdminTermsEmails.layer,
  AdminRoles.layer,
  AdminCanonicalEmailBlocks.layer,
  AdminDomainAllows.layer,
  AdminDomainBlocks.layer,
  AdminEmailDomainBlocks.layer,
  AdminIpBlocks.layer,
  AdminUsernameBlocks.layer,
  AdminRules.layer,
  AdminSettings.layer,
  AdminInstanceUploads.layer,
  AdminTags.layer,
  Announcements.layer,
  Annual.layer,
  Apps.layer,
  AsyncRefreshes.layer,
  Blocks.layer,
  Bookmarks.layer,
  Collections.layer,
  Catchups.layer,
  Contexts.layer,
  ConversationMutes.layer,
  Conversations.layer,
  Credentials.layer,
  Directory.layer,
  DomainBlocks.layer,
  Emails.layer,
  Drafts.layer,
  Subscriptions.layer,
  Encryption.layer,
  Endorsements.layer,
  EmojiReactions.layer,
  Favourites.layer,
  FeaturedTags.layer,
  FilterKeywords.layer,
  Filters.layer,
  FollowRequests.layer,
  Follows.layer,
  Instance.layer,
  ListMembers.layer,
  Lists.layer,
  LegacyFilters.layer,
  Markers.layer,
  Media.layer,
  Mutes.layer,
  NotificationGroups.layer,
  NotificationPolicies.layer,
  NotificationRequests.layer,
  Notifications.layer,
  OEmbeds.layer,
  OwnAccount.layer,
  Pins.layer,
  InteractionPolicies.layer,
  InteractionRequests.layer,
  Quotes.layer,
  Polls.layer,
  Preferences.layer,
  Push.layer,
  Reblogs.layer,
  Relationships.layer,
  RemoteFollows.layer,
  Reports.layer,
  Revisions.layer,
  ScheduledStatuses.layer,
  Search.layer,
  SignUps.layer,
  Statuses.layer,
  Strikes.layer,
  Suggestions.layer,
  Tags.layer,
  Timelines.layer,
  Translation.layer,
  Trends.layer
)

const api = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(groups),
  Layer.provide(Guard.layer)
)

/** The streaming hub of this node, for the routes and for the shutdown. */
export const hub = Hub.layer.pipe(Layer.provide(StreamRenderings.layer))

/** All routes of the server, over its services and the hub. */
export const layer = Layer.mergeAll(
  api,
  ActivityPub.layer,
  Inboxes.layer,
  Admin.layer,
  Admin.provideShared(
    Layer.mergeAll(
      Announcements.pages,
      Invites.staffPages,
      ModerationLists.pages,
      Spam.pages,
      Trends.pages,
      Webhooks.pages
    )
  ),
  ApiDocs.layer(Api),
  OAuthPages.layer,
  Pages.layer,
  First.layer.pipe(Layer.provide(Forms.layer), Layer.provide(Visitors.layer)),
  Pages.provideShared(Layer.mergeAll(Invites.pages, Subscriptions.pages)),
  RemoteFiles.layer,
  StoredFiles.layer,
  Streaming.layer,
  Web.layer,
  WellKnown.layer
).pipe(Layer.provide([ActivityPub.documents, Web.memberFrame]))
