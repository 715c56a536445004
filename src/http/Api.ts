import { HttpApi } from "effect/http-api"
import * as Announcements from "./announcements/index.ts"
import * as Annual from "./annual/index.ts"
import * as Encryption from "./encryption/index.ts"
import * as Invites from "./invites/index.ts"
import * as ModerationLists from "./lists/index.ts"
import { ClaimsGroup } from "./oauth/Claims.ts"
import { MetadataGroup } from "./oauth/Metadata.ts"
import { OAuthGroup } from "./oauth/OAuth.ts"
import * as Push from "./push/index.ts"
import * as Spam from "./spam/index.ts"
import { AdminAccountsGroup } from "./staff/api/Accounts.ts"
import { AdminAccountActionsGroup } from "./staff/api/AdminAccountActions.ts"
import { AdminAccountControlsGroup } from "./staff/api/AdminAccountControls.ts"
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
import { AdminRolesGroup } from "./staff/api/AdminRoles.ts"
import { AdminRulesGroup } from "./staff/api/AdminRules.ts"
import { AdminSettingsGroup } from "./staff/api/AdminSettings.ts"
import { AdminStatusActionsGroup } from "./staff/api/AdminStatusActions.ts"
import { AdminTagsGroup } from "./staff/api/AdminTags.ts"
import { AdminTermsEmailsGroup } from "./staff/api/AdminTermsEmails.ts"
import { AdminUsernameBlocksGroup } from "./staff/api/AdminUsernameBlocks.ts"
import { AdminWarningPresetsGroup } from "./staff/api/AdminWarningPresets.ts"
import { ModerationNotesGroup } from "./staff/api/NoteRoutes.ts"
import { AdminReportsGroup } from "./staff/api/Reports.ts"
import * as Subscriptions from "./subscriptions/index.ts"
import * as Translation from "./translation/index.ts"
import * as Trends from "./trends/index.ts"
import { AccountsGroup } from "./v1/Accounts.ts"
import { AppsGroup } from "./v1/Apps.ts"
import { AsyncRefreshesGroup } from "./v1/AsyncRefreshes.ts"
import { BlocksGroup } from "./v1/Blocks.ts"
import { BookmarksGroup } from "./v1/Bookmarks.ts"
import { CatchupsGroup } from "./v1/Catchups.ts"
import { CollectionsGroup, OlderCollectionsGroup } from "./v1/Collections.ts"
import { ContextsGroup } from "./v1/Contexts.ts"
import { ConversationMutesGroup } from "./v1/ConversationMutes.ts"
import { ConversationsGroup } from "./v1/Conversations.ts"
import { CredentialsGroup } from "./v1/Credentials.ts"
import { DirectoryGroup } from "./v1/Directory.ts"
import { DomainBlocksGroup } from "./v1/DomainBlocks.ts"
import { DraftsGroup } from "./v1/Drafts.ts"
import { EmailsGroup } from "./v1/Emails.ts"
import { EmojiReactionsGroup } from "./v1/EmojiReactions.ts"
import { EndorsementsGroup } from "./v1/Endorsements.ts"
import { FavouritesGroup } from "./v1/Favourites.ts"
import { FeaturedTagsGroup } from "./v1/FeaturedTags.ts"
import { FilterKeywordsGroup } from "./v1/FilterKeywords.ts"
import { FiltersGroup } from "./v1/Filters.ts"
import { FollowRequestsGroup } from "./v1/FollowRequests.ts"
import { FollowsGroup } from "./v1/Follows.ts"
import { InstanceGroup } from "./v1/Instance.ts"
import { InteractionPoliciesGroup } from "./v1/InteractionPolicies.ts"
import { InteractionRequestsGroup } from "./v1/InteractionRequests.ts"
import { LegacyFiltersGroup } from "./v1/LegacyFilters.ts"
import { ListMembersGroup } from "./v1/ListMembers.ts"
import { ListsGroup } from "./v1/Lists.ts"
import { MarkersGroup } from "./v1/Markers.ts"
import { MediaGroup } from "./v1/Media.ts"
import { MutesGroup } from "./v1/Mutes.ts"
import { NotificationGroupsGroup } from "./v1/NotificationGroups.ts"
import { NotificationPoliciesGroup } from "./v1/NotificationPolicies.ts"
import { NotificationRequestsGroup } from "./v1/NotificationRequests.ts"
import { NotificationsGroup } from "./v1/Notifications.ts"
import { OEmbedsGroup } from "./v1/OEmbeds.ts"
import { OwnAccountGroup } from "./v1/OwnAccount.ts"
import { PinsGroup } from "./v1/Pins.ts"
import { PollsGroup } from "./v1/Polls.ts"
import { PreferencesGroup } from "./v1/Preferences.ts"
import { QuotesGroup } from "./v1/Quotes.ts"
import { ReblogsGroup } from "./v1/Reblogs.ts"
import { RelationshipsGroup } from "./v1/Relationships.ts"
import { RemoteFollowsGroup } from "./v1/RemoteFollows.ts"
import { ReportsGroup } from "./v1/Reports.ts"
import { RevisionsGroup } from "./v1/Revisions.ts"
import { ScheduledStatusesGroup } from "./v1/ScheduledStatuses.ts"
import { SearchGroup } from "./v1/Search.ts"
import { SignUpsGroup } from "./v1/SignUps.ts"
import { StatusesGroup } from "./v1/Statuses.ts"
import { StrikesGroup } from "./v1/Strikes.ts"
import { SuggestionsGroup } from "./v1/Suggestions.ts"
import { TagsGroup } from "./v1/Tags.ts"
import { TimelinesGroup } from "./v1/Timelines.ts"
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
