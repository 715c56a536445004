import { Layer } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { Announcements } from "../services/announcements/Announcements.ts"
import { AnnualReports } from "../services/annual/AnnualReports.ts"
import { ShareKeys } from "../services/annual/ShareKeys.ts"
import { Collections } from "../services/collections/Collections.ts"
import { Search } from "../services/discovery/Search.ts"
import { EmailChoices } from "../services/emails/EmailChoices.ts"
import { Emails } from "../services/emails/Emails.ts"
import type { Mailer } from "../services/emails/Mailer.ts"
import { Devices } from "../services/encryption/Devices.ts"
import { EncryptedMessages } from "../services/encryption/EncryptedMessages.ts"
import type { Broadcast } from "../services/events/Broadcast.ts"
import { CollectionObjects } from "../services/federation/CollectionObjects.ts"
import { PublishedBlocks } from "../services/federation/domains/PublishedBlocks.ts"
import { FollowerDigests } from "../services/federation/FollowerDigests.ts"
import { Congestion } from "../services/federation/inbox/Congestion.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { LocalActors } from "../services/federation/LocalActors.ts"
import { Mentions } from "../services/federation/Mentions.ts"
import { Objects } from "../services/federation/Objects.ts"
import { DeliveryHosts } from "../services/federation/outbox/DeliveryHosts.ts"
import { FetchedBy } from "../services/federation/outbox/FetchedBy.ts"
import { InteractionActivities } from "../services/federation/outbox/InteractionActivities.ts"
import { QuoteActivities } from "../services/federation/outbox/QuoteActivities.ts"
import { ReactionActivities } from "../services/federation/outbox/ReactionActivities.ts"
import { InboundPolicies } from "../services/federation/policies/InboundPolicies.ts"
import { ProvenAuthors } from "../services/federation/ProvenAuthors.ts"
import { RemoteLookup } from "../services/federation/RemoteLookup.ts"
import { Replies } from "../services/federation/Replies.ts"
import { Senders } from "../services/federation/Senders.ts"
import { Signatures } from "../services/federation/signatures/Signatures.ts"
import { Catchups } from "../services/feeds/Catchups.ts"
import type { Feeds } from "../services/feeds/Feeds.ts"
import { GroupedNotifications } from "../services/feeds/GroupedNotifications.ts"
import { HomeTimelines } from "../services/feeds/HomeTimelines.ts"
import { Listeners } from "../services/feeds/Listeners.ts"
import { ListTimelines } from "../services/feeds/ListTimelines.ts"
import { Markers } from "../services/feeds/Markers.ts"
import { NotificationPolicies } from "../services/feeds/NotificationPolicies.ts"
import { NotificationRequests } from "../services/feeds/NotificationRequests.ts"
import { Notifications } from "../services/feeds/Notifications.ts"
import { TimelineAccess } from "../services/feeds/TimelineAccess.ts"
import { Timelines } from "../services/feeds/Timelines.ts"
import { ActiveFilters } from "../services/filters/ActiveFilters.ts"
import { Filters } from "../services/filters/Filters.ts"
import { Accounts } from "../services/identity/Accounts.ts"
import type { Credentials } from "../services/identity/Credentials.ts"
import { Handles } from "../services/identity/Handles.ts"
import { MailLinks } from "../services/identity/MailLinks.ts"
import { Passkeys } from "../services/identity/Passkeys.ts"
import { Registrations } from "../services/identity/Registrations.ts"
import { Sessions } from "../services/identity/Sessions.ts"
import { Settings } from "../services/identity/Settings.ts"
import { SignInPlaces } from "../services/identity/SignInPlaces.ts"
import { SignIns } from "../services/identity/SignIns.ts"
import { SignUps } from "../services/identity/SignUps.ts"
import { TwoFactor } from "../services/identity/TwoFactor.ts"
import { TwoFactorReset } from "../services/identity/TwoFactorReset.ts"
import { Users } from "../services/identity/Users.ts"
import { Activity } from "../services/instance/Activity.ts"
import { Appearance } from "../services/instance/Appearance.ts"
import { CustomEmojis } from "../services/instance/CustomEmojis.ts"
import { Instance } from "../services/instance/Instance.ts"
import { InstancePolicies } from "../services/instance/InstancePolicies.ts"
import type { ServerConfig } from "../services/instance/ServerConfig.ts"
import { AgendaEntries } from "../services/intents/AgendaEntries.ts"
import { Invites } from "../services/invites/Invites.ts"
import { MediaRedirects } from "../services/media/MediaRedirects.ts"
import { Reports } from "../services/moderation/Reports.ts"
import { Strikes } from "../services/moderation/Strikes.ts"
import { Apps } from "../services/oauth/Apps.ts"
import { Grants } from "../services/oauth/Grants.ts"
import { LiveTokens } from "../services/oauth/LiveTokens.ts"
import { SessionTokens } from "../services/oauth/SessionTokens.ts"
import { Tokens } from "../services/oauth/Tokens.ts"
import { Identities } from "../services/oidc/Identities.ts"
import type { IdentityProvider } from "../services/oidc/IdentityProvider.ts"
import { ProviderSignIns } from "../services/oidc/ProviderSignIns.ts"
import type { PushMessages } from "../services/push/PushMessages.ts"
import { PushSubscriptions } from "../services/push/PushSubscriptions.ts"
import { SealedTokens } from "../services/push/SealedTokens.ts"
import { StatusSearch } from "../services/search/StatusSearch.ts"
import { OpaqueSecrets } from "../services/secrets/OpaqueSecrets.ts"
import type { Secrets } from "../services/secrets/Secrets.ts"
import { AccountNotes } from "../services/social/AccountNotes.ts"
import { Blocks } from "../services/social/Blocks.ts"
import { FollowLists } from "../services/social/FollowLists.ts"
import { ListMembers } from "../services/social/ListMembers.ts"
import { Mutes } from "../services/social/Mutes.ts"
import { OwnedLists } from "../services/social/OwnedLists.ts"
import { Relationships } from "../services/social/Relationships.ts"
import { SortedFollows } from "../services/social/SortedFollows.ts"
import { UserDomainBlocks } from "../services/social/UserDomainBlocks.ts"
import { Roles } from "../services/staff/Roles.ts"
import { AccountStatuses } from "../services/statuses/AccountStatuses.ts"
import { InteractionRequestList } from "../services/statuses/AskedInteractions.ts"
import { Bookmarks } from "../services/statuses/Bookmarks.ts"
import { Contexts } from "../services/statuses/Contexts.ts"
import { ConversationMutes } from "../services/statuses/ConversationMutes.ts"
import { Conversations } from "../services/statuses/Conversations.ts"
import { DefaultPolicies } from "../services/statuses/DefaultPolicies.ts"
import { EmojiReactions } from "../services/statuses/EmojiReactions.ts"
import { FeaturedTags } from "../services/statuses/FeaturedTags.ts"
import { History } from "../services/statuses/History.ts"
import { Interactions } from "../services/statuses/Interactions.ts"
import { PostCleanups } from "../services/statuses/PostCleanups.ts"
import { Quotes } from "../services/statuses/Quotes.ts"
import { Statuses } from "../services/statuses/Statuses.ts"
import { StatusReactions } from "../services/statuses/StatusReactions.ts"
import { TagFollows } from "../services/statuses/TagFollows.ts"
import { Tags } from "../services/statuses/Tags.ts"
import { UnpublishedPosts } from "../services/statuses/UnpublishedPosts.ts"
import { ViewerStates } from "../services/statuses/ViewerStates.ts"
import { EmailSubscriptions } from "../services/subscriptions/EmailSubscriptions.ts"
import { Directory } from "../services/suggestions/Directory.ts"
import { Suggestions } from "../services/suggestions/Suggestions.ts"
import { Translations } from "../services/translation/Translations.ts"
import type { Translator } from "../services/translation/Translator.ts"
import { LinkRecords } from "../services/trends/LinkRecords.ts"
import { TrendReviews } from "../services/trends/TrendReviews.ts"
import { Trends } from "../services/trends/Trends.ts"
import * as AccessBlocks from "./AccessBlocks.ts"
import { remote } from "./Federation.ts"
import * as NodeKeyOperations from "./NodeKeyOperations.ts"

/** Storage, broadcasts and configuration. */
type Stored = Broadcast | ServerConfig | SqlClient.SqlClient
type Secret = Credentials | Digest.Digest | PushMessages | Secrets | SecureRandom.SecureRandom

/** Users, sessions, tokens and sign-up. */
const identity = Layer.satisfiesServicesType<Stored | InstancePolicies | Secret | Mailer | IdentityProvider>()(
  Layer.mergeAll(
    Apps.layer,
    Grants.layer,
    EmailChoices.layer,
    EmailSubscriptions.layer,
    Invites.layer,
    LiveTokens.layer,
    SessionTokens.layer,
    MailLinks.layer,
    Passkeys.layer,
    Identities.layer,
    ProviderSignIns.layer,
    PushSubscriptions.layerNoDeps.pipe(Layer.provide(SealedTokens.layer)),
    Registrations.layer,
    Roles.layer,
    Sessions.layer,
    Settings.layer,
    SignInPlaces.layer,
    SignIns.layer,
    SignUps.layer,
    TwoFactor.layer,
    TwoFactorReset.layer,
    Users.layer
  ).pipe(
    Layer.provideMerge(Layer.merge(Emails.layer, Tokens.layer)),
    Layer.provideMerge(OpaqueSecrets.layer)
  )
)

/** Reads of accounts and statuses. */
const reading = Layer.satisfiesServicesType<Stored | InstancePolicies | Feeds | Digest.Digest | Secrets | Translator>()(
  Layer.mergeAll(
    AccountStatuses.layer,
    ActiveFilters.layer,
    Activity.layer,
    Announcements.layer,
    AnnualReports.layer,
    ShareKeys.layer,
    Bookmarks.layer,
    Catchups.layer,
    FollowLists.layer,
    Collections.layer,
    Contexts.layer,
    ConversationMutes.layer,
    Conversations.layer,
    PostCleanups.layer,
    SortedFollows.layer,
    UserDomainBlocks.layer,
    Blocks.layer,
    Mutes.layer,
    Devices.layer,
    EncryptedMessages.layer,
    FeaturedTags.layer,
    Filters.layer,
    GroupedNotifications.layer,
    Handles.layer,
    History.layer,
    HomeTimelines.layer,
    Instance.layer,
    EmojiReactions.layer,
    Interactions.layer,
    ListMembers.layer,
    ListTimelines.layer,
    Listeners.layer,
    OwnedLists.layer,
    Markers.layer,
    MediaRedirects.layer,
    AccountNotes.layer,
    Strikes.layer,
    NotificationPolicies.layer,
    NotificationRequests.layer,
    Notifications.layer,
    Relationships.layer,
    DefaultPolicies.layer,
    InteractionRequestList.layer,
    Quotes.layer,
    Search.layer,
    UnpublishedPosts.layer,
    StatusSearch.layer,
    Reports.layer,
    Appearance.layer,
    StatusReactions.layer,
    ViewerStates.layer,
    TagFollows.layer,
    Tags.layer,
    TimelineAccess.layer,
    Timelines.layer,
    Translations.layer,
    Directory.layer,
    LinkRecords.layer,
    Suggestions.layer,
    TrendReviews.layer,
    Trends.layer
  ).pipe(Layer.provideMerge(Layer.mergeAll(Accounts.layer, CustomEmojis.layer, Statuses.layer)))
)

/** Local objects for other servers, and remote objects. */
const federation = Layer.satisfiesServicesType<Layer.Services<typeof remote>>()(
  Layer.mergeAll(
    CollectionObjects.layer,
    Congestion.layer,
    DeliveryHosts.layer,
    FetchedBy.layer,
    FollowerDigests.layer,
    InboundActivities.layer,
    InboundPolicies.layer,
    LocalActors.layer,
    Mentions.layer,
    Objects.layer,
    PublishedBlocks.layer,
    InteractionActivities.layer,
    QuoteActivities.layer,
    ReactionActivities.layer,
    RemoteLookup.layer,
    Replies.layer,
    Layer.merge(ProvenAuthors.layer, Senders.layer),
    Signatures.layer
  ).pipe(
    Layer.provideMerge(remote),
    Layer.provide([
      Accounts.layer,
      AgendaEntries.layer,
      CustomEmojis.layer,
      Handles.layer,
      NodeKeyOperations.layer,
      Statuses.layer
    ])
  )
)

/** All services besides the actors, over the database, broadcasts and the configuration. */
export const layer = Layer.mergeAll(identity, AccessBlocks.layer, reading, federation).pipe(
  Layer.provideMerge(InstancePolicies.layer)
)
