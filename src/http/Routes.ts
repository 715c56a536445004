import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as ActivityPubRoutes from "./activitypub/ActivityPubRoutes.ts"
import * as Inboxes from "./activitypub/Inboxes.ts"
import * as Announcements from "./announcements/index.ts"
import * as Annual from "./annual/index.ts"
import { Api } from "./Api.ts"
import * as Encryption from "./encryption/index.ts"
import * as RemoteFileRoutes from "./files/RemoteFileRoutes.ts"
import * as StoredFileRoutes from "./files/StoredFileRoutes.ts"
import { Guard } from "./guard/Guard.ts"
import { Forms } from "./html/Forms.ts"
import { Visitors } from "./html/Visitors.ts"
import * as Invites from "./invites/index.ts"
import * as ModerationLists from "./lists/index.ts"
import * as Claims from "./oauth/Claims.ts"
import * as Metadata from "./oauth/Metadata.ts"
import * as OAuthRoutes from "./oauth/OAuthRoutes.ts"
import * as ApiDocs from "./pages/ApiDocs.ts"
import * as OAuthPages from "./pages/OAuthPages.ts"
import * as PageRoutes from "./pages/PageRoutes.ts"
import * as Push from "./push/index.ts"
import * as StreamRenderings from "./render/StreamRenderings.ts"
import * as Spam from "./spam/index.ts"
import * as AdminAccountActions from "./staff/api/AdminAccountActions.ts"
import * as AdminAccountControls from "./staff/api/AdminAccountControls.ts"
import * as AdminAccountRoutes from "./staff/api/AdminAccountRoutes.ts"
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
import * as AdminReportRoutes from "./staff/api/AdminReportRoutes.ts"
import * as AdminRoles from "./staff/api/AdminRoles.ts"
import * as AdminRules from "./staff/api/AdminRules.ts"
import * as AdminSettings from "./staff/api/AdminSettings.ts"
import * as AdminStatusActions from "./staff/api/AdminStatusActions.ts"
import * as AdminTags from "./staff/api/AdminTags.ts"
import * as AdminTermsEmails from "./staff/api/AdminTermsEmails.ts"
import * as AdminUsernameBlocks from "./staff/api/AdminUsernameBlocks.ts"
import * as AdminWarningPresets from "./staff/api/AdminWarningPresets.ts"
import * as ModerationNotes from "./staff/api/NoteRoutes.ts"
import * as StaffPageRoutes from "./staff/pages/StaffPageRoutes.ts"
import { Hub } from "./streaming/Hub.ts"
import * as StreamingRoutes from "./streaming/StreamingRoutes.ts"
import * as Subscriptions from "./subscriptions/index.ts"
import * as Translation from "./translation/index.ts"
import * as Trends from "./trends/index.ts"
import * as AccountRoutes from "./v1/AccountRoutes.ts"
import * as AppRoutes from "./v1/AppRoutes.ts"
import * as AsyncRefreshRoutes from "./v1/AsyncRefreshRoutes.ts"
import * as BlockRoutes from "./v1/BlockRoutes.ts"
import * as BookmarkRoutes from "./v1/BookmarkRoutes.ts"
import * as CatchupRoutes from "./v1/CatchupRoutes.ts"
import * as CollectionRoutes from "./v1/CollectionRoutes.ts"
import * as ContextRoutes from "./v1/ContextRoutes.ts"
import * as ConversationMuteRoutes from "./v1/ConversationMuteRoutes.ts"
import * as ConversationRoutes from "./v1/ConversationRoutes.ts"
import * as CredentialRoutes from "./v1/CredentialRoutes.ts"
import * as DirectoryRoutes from "./v1/DirectoryRoutes.ts"
import * as DomainBlockRoutes from "./v1/DomainBlockRoutes.ts"
import * as DraftRoutes from "./v1/DraftRoutes.ts"
import * as EmailRoutes from "./v1/EmailRoutes.ts"
import * as EmojiReactionRoutes from "./v1/EmojiReactionRoutes.ts"
import * as EndorsementRoutes from "./v1/EndorsementRoutes.ts"
import * as FavouriteRoutes from "./v1/FavouriteRoutes.ts"
import * as FeaturedTagRoutes from "./v1/FeaturedTagRoutes.ts"
import * as FilterKeywordRoutes from "./v1/FilterKeywordRoutes.ts"
import * as FilterRoutes from "./v1/FilterRoutes.ts"
import * as FollowRequestRoutes from "./v1/FollowRequestRoutes.ts"
import * as FollowRoutes from "./v1/FollowRoutes.ts"
import * as InstanceRoutes from "./v1/InstanceRoutes.ts"
import * as InteractionPolicyRoutes from "./v1/InteractionPolicyRoutes.ts"
import * as InteractionRequestRoutes from "./v1/InteractionRequestRoutes.ts"
import * as LegacyFilterRoutes from "./v1/LegacyFilterRoutes.ts"
import * as ListMemberRoutes from "./v1/ListMemberRoutes.ts"
import * as ListRoutes from "./v1/ListRoutes.ts"
import * as MarkerRoutes from "./v1/MarkerRoutes.ts"
import * as MediaRoutes from "./v1/MediaRoutes.ts"
import * as MuteRoutes from "./v1/MuteRoutes.ts"
import * as NotificationGroupRoutes from "./v1/NotificationGroupRoutes.ts"
import * as NotificationPolicyRoutes from "./v1/NotificationPolicyRoutes.ts"
import * as NotificationRequestRoutes from "./v1/NotificationRequestRoutes.ts"
import * as NotificationRoutes from "./v1/NotificationRoutes.ts"
import * as OEmbedRoutes from "./v1/OEmbedRoutes.ts"
import * as OwnAccountRoutes from "./v1/OwnAccountRoutes.ts"
import * as PinRoutes from "./v1/PinRoutes.ts"
import * as PollRoutes from "./v1/PollRoutes.ts"
import * as PreferenceRoutes from "./v1/PreferenceRoutes.ts"
import * as QuoteRoutes from "./v1/QuoteRoutes.ts"
import * as ReblogRoutes from "./v1/ReblogRoutes.ts"
import * as RelationshipRoutes from "./v1/RelationshipRoutes.ts"
import * as RemoteFollowRoutes from "./v1/RemoteFollowRoutes.ts"
import * as ReportRoutes from "./v1/ReportRoutes.ts"
import * as RevisionRoutes from "./v1/RevisionRoutes.ts"
import * as ScheduledStatusRoutes from "./v1/ScheduledStatusRoutes.ts"
import * as SearchRoutes from "./v1/SearchRoutes.ts"
import * as SignUpRoutes from "./v1/SignUpRoutes.ts"
import * as StatusRoutes from "./v1/StatusRoutes.ts"
import * as StrikeRoutes from "./v1/StrikeRoutes.ts"
import * as SuggestionRoutes from "./v1/SuggestionRoutes.ts"
import * as TagRoutes from "./v1/TagRoutes.ts"
import * as TimelineRoutes from "./v1/TimelineRoutes.ts"
import * as First from "./web/first/index.ts"
import * as Web from "./web/index.ts"
import * as Webhooks from "./webhooks/index.ts"
import * as WellKnownRoutes from "./wellknown/WellKnownRoutes.ts"

const groups = Layer.mergeAll(
  Claims.layer,
  Metadata.layer,
  OAuthRoutes.layer,
  AccountRoutes.layer,
  AdminMetrics.layer,
  AdminRelays.layer,
  AdminInstances.layer,
  AdminAuditLog.layer,
  AdminCustomEmojis.layer,
  Invites.layer,
  AdminAccountActions.layer,
  AdminAccountRoutes.layer,
  AdminAppeals.layer,
  ModerationNotes.layer,
  AdminReportRoutes.layer,
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
  AppRoutes.layer,
  AsyncRefreshRoutes.layer,
  BlockRoutes.layer,
  BookmarkRoutes.layer,
  CollectionRoutes.layer,
  CatchupRoutes.layer,
  ContextRoutes.layer,
  ConversationMuteRoutes.layer,
  ConversationRoutes.layer,
  CredentialRoutes.layer,
  DirectoryRoutes.layer,
  DomainBlockRoutes.layer,
  EmailRoutes.layer,
  DraftRoutes.layer,
  Subscriptions.layer,
  Encryption.layer,
  EndorsementRoutes.layer,
  EmojiReactionRoutes.layer,
  FavouriteRoutes.layer,
  FeaturedTagRoutes.layer,
  FilterKeywordRoutes.layer,
  FilterRoutes.layer,
  FollowRequestRoutes.layer,
  FollowRoutes.layer,
  InstanceRoutes.layer,
  ListMemberRoutes.layer,
  ListRoutes.layer,
  LegacyFilterRoutes.layer,
  MarkerRoutes.layer,
  MediaRoutes.layer,
  MuteRoutes.layer,
  NotificationGroupRoutes.layer,
  NotificationPolicyRoutes.layer,
  NotificationRequestRoutes.layer,
  NotificationRoutes.layer,
  OEmbedRoutes.layer,
  OwnAccountRoutes.layer,
  PinRoutes.layer,
  InteractionPolicyRoutes.layer,
  InteractionRequestRoutes.layer,
  QuoteRoutes.layer,
  PollRoutes.layer,
  PreferenceRoutes.layer,
  Push.layer,
  ReblogRoutes.layer,
  RelationshipRoutes.layer,
  RemoteFollowRoutes.layer,
  ReportRoutes.layer,
  RevisionRoutes.layer,
  ScheduledStatusRoutes.layer,
  SearchRoutes.layer,
  SignUpRoutes.layer,
  StatusRoutes.layer,
  StrikeRoutes.layer,
  SuggestionRoutes.layer,
  TagRoutes.layer,
  TimelineRoutes.layer,
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
  ActivityPubRoutes.layer,
  Inboxes.layer,
  StaffPageRoutes.layer,
  StaffPageRoutes.provideShared(
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
  PageRoutes.layer,
  First.layer.pipe(Layer.provide(Forms.layer), Layer.provide(Visitors.layer)),
  PageRoutes.provideShared(Layer.mergeAll(Invites.pages, Subscriptions.pages)),
  RemoteFileRoutes.layer,
  StoredFileRoutes.layer,
  StreamingRoutes.layer,
  Web.layer,
  WellKnownRoutes.layer
).pipe(Layer.provide([ActivityPubRoutes.documents, Web.memberFrame]))
