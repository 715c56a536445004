import { HttpApi } from "effect/http-api"
import * as Announcements from "./announcements/index.ts"
import * as Annual from "./annual/index.ts"
import * as Encryption from "./encryption/index.ts"
import * as Invites from "./invites/index.ts"
import * as ModerationLists from "./lists/index.ts"
import { ClaimsGroup } from "./oauth/Claims.ts"
import { MetadataGroup } from "./oauth/Metadata.ts"
import { OAuthGroup } from "./oauth/OAuthRoutes.ts"
import * as Push from "./push/index.ts"
import * as Spam from "./spam/index.ts"
import { AdminAccountActionsGroup } from "./staff/api/AdminAccountActions.ts"
import { AdminAccountControlsGroup } from "./staff/api/AdminAccountControls.ts"
import { AdminAccountsGroup } from "./staff/api/AdminAccountRoutes.ts"
import { AdminAppealsGroup } from "./staff/api/AdminAppeals.ts"
import { AdminAuditLogGroup } from "./staff/api/AdminAuditLog.ts"
import { AdminCanonicalEmailBlocksGroup } from "./staff/api/AdminCanonicalEmailBlocks.ts"
import { AdminCustomEmojisGroup } from "./staff/api/AdminCustomEmojis.ts"
import { AdminDomainAllowsGroup } from "./staff/api/AdminDomainAllows.ts"
import { AdminDomainBlocksGroup } from "./staff/api/AdminDomainBlocks.ts"
import { AdminEmailDomainBlocksGroup } from "./staff/api/AdminEmailDomainBlocks.ts"
import { AdminInstancesGroup } from "./staff/api/AdminInstances.ts"
import { AdminInstanceUploadsGroup } from "./staff/api/AdminInstanceUploads.ts"
import { AdminIpBlocksGroup } from "./staff/api/AdminIpBlocks.ts"
import { AdminMetricsGroup } from "./staff/api/AdminMetrics.ts"
import { AdminRelaysGroup } from "./staff/api/AdminRelays.ts"
import { AdminReportsGroup } from "./staff/api/AdminReportRoutes.ts"
import { AdminRolesGroup } from "./staff/api/AdminRoles.ts"
import { AdminRulesGroup } from "./staff/api/AdminRules.ts"
import { AdminSettingsGroup } from "./staff/api/AdminSettings.ts"
import { AdminStatusActionsGroup } from "./staff/api/AdminStatusActions.ts"
import { AdminTagsGroup } from "./staff/api/AdminTags.ts"
import { AdminTermsEmailsGroup } from "./staff/api/AdminTermsEmails.ts"
import { AdminUsernameBlocksGroup } from "./staff/api/AdminUsernameBlocks.ts"
import { AdminWarningPresetsGroup } from "./staff/api/AdminWarningPresets.ts"
import { ModerationNotesGroup } from "./staff/api/NoteRoutes.ts"
import * as Subscriptions from "./subscriptions/index.ts"
import * as Translation from "./translation/index.ts"
import * as Trends from "./trends/index.ts"
import { AccountsGroup } from "./v1/AccountRoutes.ts"
import { AppsGroup } from "./v1/AppRoutes.ts"
import { AsyncRefreshesGroup } from "./v1/AsyncRefreshRoutes.ts"
import { BlocksGroup } from "./v1/BlockRoutes.ts"
import { BookmarksGroup } from "./v1/BookmarkRoutes.ts"
import { CatchupsGroup } from "./v1/CatchupRoutes.ts"
import { CollectionsGroup, OlderCollectionsGroup } from "./v1/CollectionRoutes.ts"
import { ContextsGroup } from "./v1/ContextRoutes.ts"
import { ConversationMutesGroup } from "./v1/ConversationMuteRoutes.ts"
import { ConversationsGroup } from "./v1/ConversationRoutes.ts"
import { CredentialsGroup } from "./v1/CredentialRoutes.ts"
import { DirectoryGroup } from "./v1/DirectoryRoutes.ts"
import { DomainBlocksGroup } from "./v1/DomainBlockRoutes.ts"
import { DraftsGroup } from "./v1/DraftRoutes.ts"
import { EmailsGroup } from "./v1/EmailRoutes.ts"
import { EmojiReactionsGroup } from "./v1/EmojiReactionRoutes.ts"
import { EndorsementsGroup } from "./v1/EndorsementRoutes.ts"
import { FavouritesGroup } from "./v1/FavouriteRoutes.ts"
import { FeaturedTagsGroup } from "./v1/FeaturedTagRoutes.ts"
import { FilterKeywordsGroup } from "./v1/FilterKeywordRoutes.ts"
import { FiltersGroup } from "./v1/FilterRoutes.ts"
import { FollowRequestsGroup } from "./v1/FollowRequestRoutes.ts"
import { FollowsGroup } from "./v1/FollowRoutes.ts"
import { InstanceGroup } from "./v1/InstanceRoutes.ts"
import { InteractionPoliciesGroup } from "./v1/InteractionPolicyRoutes.ts"
import { InteractionRequestsGroup } from "./v1/InteractionRequestRoutes.ts"
import { LegacyFiltersGroup } from "./v1/LegacyFilterRoutes.ts"
import { ListMembersGroup } from "./v1/ListMemberRoutes.ts"
import { ListsGroup } from "./v1/ListRoutes.ts"
import { MarkersGroup } from "./v1/MarkerRoutes.ts"
import { MediaGroup } from "./v1/MediaRoutes.ts"
import { MutesGroup } from "./v1/MuteRoutes.ts"
import { NotificationGroupsGroup } from "./v1/NotificationGroupRoutes.ts"
import { NotificationPoliciesGroup } from "./v1/NotificationPolicyRoutes.ts"
import { NotificationRequestsGroup } from "./v1/NotificationRequestRoutes.ts"
import { NotificationsGroup } from "./v1/NotificationRoutes.ts"
import { OEmbedsGroup } from "./v1/OEmbedRoutes.ts"
import { OwnAccountGroup } from "./v1/OwnAccountRoutes.ts"
import { PinsGroup } from "./v1/PinRoutes.ts"
import { PollsGroup } from "./v1/PollRoutes.ts"
import { PreferencesGroup } from "./v1/PreferenceRoutes.ts"
import { QuotesGroup } from "./v1/QuoteRoutes.ts"
import { ReblogsGroup } from "./v1/ReblogRoutes.ts"
import { RelationshipsGroup } from "./v1/RelationshipRoutes.ts"
import { RemoteFollowsGroup } from "./v1/RemoteFollowRoutes.ts"
import { ReportsGroup } from "./v1/ReportRoutes.ts"
import { RevisionsGroup } from "./v1/RevisionRoutes.ts"
import { ScheduledStatusesGroup } from "./v1/ScheduledStatusRoutes.ts"
import { SearchGroup } from "./v1/SearchRoutes.ts"
import { SignUpsGroup } from "./v1/SignUpRoutes.ts"
import { StatusesGroup } from "./v1/StatusRoutes.ts"
import { StrikesGroup } from "./v1/StrikeRoutes.ts"
import { SuggestionsGroup } from "./v1/SuggestionRoutes.ts"
import { TagsGroup } from "./v1/TagRoutes.ts"
import { TimelinesGroup } from "./v1/TimelineRoutes.ts"
import * as Webhooks from "./webhooks/index.ts"

/** The client API, from which requests are routed and the OpenAPI document is generated. */
export class Api extends HttpApi.make("murmuration")
  .add(ClaimsGroup)
  .add(MetadataGroup)
  .add(OAuthGroup)
  .add(AccountsGroup)
  .add(AdminMetricsGroup)
  .add(AdminRelaysGroup)
  .add(AdminInstancesGroup)
  .add(AdminAuditLogGroup)
  .add(AdminCustomEmojisGroup)
  .add(...Invites.groups)
  .add(AdminAccountActionsGroup)
  .add(AdminAccountsGroup)
  .add(AdminAppealsGroup)
  .add(ModerationNotesGroup)
  .add(AdminReportsGroup)
  .add(AdminStatusActionsGroup)
  .add(...ModerationLists.groups)
  .add(...Spam.groups)
  .add(...Webhooks.groups)
  .add(AdminWarningPresetsGroup)
  .add(AdminAccountControlsGroup)
  .add(AdminTermsEmailsGroup)
  .add(AdminRolesGroup)
  .add(AdminCanonicalEmailBlocksGroup)
  .add(AdminDomainAllowsGroup)
  .add(AdminDomainBlocksGroup)
  .add(AdminEmailDomainBlocksGroup)
  .add(AdminIpBlocksGroup)
  .add(AdminUsernameBlocksGroup)
  .add(AdminRulesGroup)
  .add(AdminSettingsGroup)
  .add(AdminInstanceUploadsGroup)
  .add(AdminTagsGroup)
  .add(...Announcements.groups)
  .add(...Annual.groups)
  .add(AppsGroup)
  .add(AsyncRefreshesGroup)
  .add(BlocksGroup)
  .add(BookmarksGroup)
  .add(CollectionsGroup)
  .add(OlderCollectionsGroup)
  .add(CatchupsGroup)
  .add(ContextsGroup)
  .add(ConversationMutesGroup)
  .add(ConversationsGroup)
  .add(CredentialsGroup)
  .add(DirectoryGroup)
  .add(DomainBlocksGroup)
  .add(EmailsGroup)
  .add(DraftsGroup)
  .add(...Subscriptions.groups)
  .add(EmojiReactionsGroup)
  .add(...Encryption.groups)
  .add(EndorsementsGroup)
  .add(FavouritesGroup)
  .add(FeaturedTagsGroup)
  .add(FilterKeywordsGroup)
  .add(FiltersGroup)
  .add(FollowRequestsGroup)
  .add(FollowsGroup)
  .add(InstanceGroup)
  .add(InteractionPoliciesGroup)
  .add(InteractionRequestsGroup)
  .add(ListMembersGroup)
  .add(ListsGroup)
  .add(LegacyFiltersGroup)
  .add(MarkersGroup)
  .add(MediaGroup)
  .add(MutesGroup)
  .add(NotificationGroupsGroup)
  .add(NotificationPoliciesGroup)
  .add(NotificationRequestsGroup)
  .add(NotificationsGroup)
  .add(OEmbedsGroup)
  .add(OwnAccountGroup)
  .add(PinsGroup)
  .add(QuotesGroup)
  .add(PollsGroup)
  .add(PreferencesGroup)
  .add(...Push.groups)
  .add(ReblogsGroup)
  .add(RelationshipsGroup)
  .add(RemoteFollowsGroup)
  .add(ReportsGroup)
  .add(RevisionsGroup)
  .add(ScheduledStatusesGroup)
  .add(SearchGroup)
  .add(SignUpsGroup)
  .add(StatusesGroup)
  .add(StrikesGroup)
  .add(SuggestionsGroup)
  .add(TagsGroup)
  .add(TimelinesGroup)
  .add(...Translation.groups)
  .add(...Trends.groups)
{}
