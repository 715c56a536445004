import { HttpApi } from "effect/http-api"
import { ClaimsGroup } from "./oauth/Claims.ts"
import { MetadataGroup } from "./oauth/Metadata.ts"
import { OAuthGroup } from "./oauth/OAuth.ts"
import { AccountActionsGroup } from "./v1/AccountActions.ts"
import { AccountConnectionsGroup } from "./v1/AccountConnections.ts"
import { AccountsGroup } from "./v1/Accounts.ts"
import { AppsGroup } from "./v1/Apps.ts"
import { AsyncRefreshesGroup } from "./v1/AsyncRefreshes.ts"
import { BookmarksGroup } from "./v1/Bookmarks.ts"
import { ConversationsGroup } from "./v1/Conversations.ts"
import { CredentialsGroup } from "./v1/Credentials.ts"
import { DomainBlocksGroup } from "./v1/DomainBlocks.ts"
import { EmailsGroup } from "./v1/Emails.ts"
import { FeaturedTagsGroup } from "./v1/FeaturedTags.ts"
import { FilterKeywordsGroup } from "./v1/FilterKeywords.ts"
import { FiltersGroup } from "./v1/Filters.ts"
import { InstanceGroup } from "./v1/Instance.ts"
import { LegacyFiltersGroup } from "./v1/LegacyFilters.ts"
import { MarkersGroup } from "./v1/Markers.ts"
import { MediaGroup } from "./v1/Media.ts"
import { NotificationGroupsGroup } from "./v1/NotificationGroups.ts"
import { NotificationPoliciesGroup } from "./v1/NotificationPolicies.ts"
import { NotificationRequestsGroup } from "./v1/NotificationRequests.ts"
import { NotificationsGroup } from "./v1/Notifications.ts"
import { OwnListsGroup } from "./v1/OwnLists.ts"
import { PlaceholdersGroup } from "./v1/Placeholders.ts"
import { PollsGroup } from "./v1/Polls.ts"
import { PreferencesGroup } from "./v1/Preferences.ts"
import { RemoteFollowsGroup } from "./v1/RemoteFollows.ts"
import { ReportsGroup } from "./v1/Reports.ts"
import { ScheduledStatusesGroup } from "./v1/ScheduledStatuses.ts"
import { SearchGroup } from "./v1/Search.ts"
import { SignUpsGroup } from "./v1/SignUps.ts"
import { StatusActionsGroup } from "./v1/StatusActions.ts"
import { StatusesGroup } from "./v1/Statuses.ts"
import { StatusWritesGroup } from "./v1/StatusWrites.ts"
import { TagsGroup } from "./v1/Tags.ts"
import { TimelinesGroup } from "./v1/Timelines.ts"

/** Everything that clients call, from which requests are served and the OpenAPI document is made. */
export class Api extends HttpApi.make("murmuration")
  .add(ClaimsGroup)
  .add(MetadataGroup)
  .add(OAuthGroup)
  .add(AccountActionsGroup)
  .add(AccountConnectionsGroup)
  .add(AccountsGroup)
  .add(AppsGroup)
  .add(AsyncRefreshesGroup)
  .add(BookmarksGroup)
  .add(ConversationsGroup)
  .add(CredentialsGroup)
  .add(DomainBlocksGroup)
  .add(EmailsGroup)
  .add(FeaturedTagsGroup)
  .add(FilterKeywordsGroup)
  .add(FiltersGroup)
  .add(InstanceGroup)
  .add(LegacyFiltersGroup)
  .add(PlaceholdersGroup)
  .add(MarkersGroup)
  .add(MediaGroup)
  .add(NotificationGroupsGroup)
  .add(NotificationPoliciesGroup)
  .add(NotificationRequestsGroup)
  .add(NotificationsGroup)
  .add(OwnListsGroup)
  .add(PollsGroup)
  .add(PreferencesGroup)
  .add(RemoteFollowsGroup)
  .add(ReportsGroup)
  .add(ScheduledStatusesGroup)
  .add(SearchGroup)
  .add(SignUpsGroup)
  .add(StatusActionsGroup)
  .add(StatusWritesGroup)
  .add(StatusesGroup)
  .add(TagsGroup)
  .add(TimelinesGroup)
{}
