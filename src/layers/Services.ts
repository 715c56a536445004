import { Layer } from "effect"
import { Search } from "../services/discovery/Search.ts"
import { Emails } from "../services/emails/Emails.ts"
import { PublishedBlocks } from "../services/federation/domains/PublishedBlocks.ts"
import { FollowerDigests } from "../services/federation/FollowerDigests.ts"
import { Congestion } from "../services/federation/inbox/Congestion.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { LocalActors } from "../services/federation/LocalActors.ts"
import { Mentions } from "../services/federation/Mentions.ts"
import { Objects } from "../services/federation/Objects.ts"
import { DeliveryHosts } from "../services/federation/outbox/DeliveryHosts.ts"
import { FetchedBy } from "../services/federation/outbox/FetchedBy.ts"
import { InboundPolicies } from "../services/federation/policies/InboundPolicies.ts"
import { RemoteLookup } from "../services/federation/RemoteLookup.ts"
import { Replies } from "../services/federation/Replies.ts"
import { Senders } from "../services/federation/Senders.ts"
import { GroupedNotifications } from "../services/feeds/GroupedNotifications.ts"
import { HomeTimelines } from "../services/feeds/HomeTimelines.ts"
import { Listeners } from "../services/feeds/Listeners.ts"
import { Markers } from "../services/feeds/Markers.ts"
import { Notifications } from "../services/feeds/Notifications.ts"
import { Timelines } from "../services/feeds/Timelines.ts"
import { Accounts } from "../services/identity/Accounts.ts"
import { Handles } from "../services/identity/Handles.ts"
import { MailLinks } from "../services/identity/MailLinks.ts"
import { Registrations } from "../services/identity/Registrations.ts"
import { Roles } from "../services/identity/Roles.ts"
import { Sessions } from "../services/identity/Sessions.ts"
import { Settings } from "../services/identity/Settings.ts"
import { SignIns } from "../services/identity/SignIns.ts"
import { SignUps } from "../services/identity/SignUps.ts"
import { StaffEmails } from "../services/identity/StaffEmails.ts"
import { Users } from "../services/identity/Users.ts"
import { Activity } from "../services/instance/Activity.ts"
import { CustomEmojis } from "../services/instance/CustomEmojis.ts"
import { Instance } from "../services/instance/Instance.ts"
import { Reports } from "../services/moderation/Reports.ts"
import { Apps } from "../services/oauth/Apps.ts"
import { Grants } from "../services/oauth/Grants.ts"
import { LiveTokens } from "../services/oauth/LiveTokens.ts"
import { Tokens } from "../services/oauth/Tokens.ts"
import { OpaqueSecrets } from "../services/OpaqueSecrets.ts"
import { AccountNotes } from "../services/social/AccountNotes.ts"
import { Blocks } from "../services/social/Blocks.ts"
import { FollowLists } from "../services/social/FollowLists.ts"
import { Mutes } from "../services/social/Mutes.ts"
import { Relationships } from "../services/social/Relationships.ts"
import { UserDomainBlocks } from "../services/social/UserDomainBlocks.ts"
import { AccountStatuses } from "../services/statuses/AccountStatuses.ts"
import { Bookmarks } from "../services/statuses/Bookmarks.ts"
import { Contexts } from "../services/statuses/Contexts.ts"
import { ConversationMutes } from "../services/statuses/ConversationMutes.ts"
import { Conversations } from "../services/statuses/Conversations.ts"
import { FeaturedTags } from "../services/statuses/FeaturedTags.ts"
import { History } from "../services/statuses/History.ts"
import { Interactions } from "../services/statuses/Interactions.ts"
import { ScheduledStatuses } from "../services/statuses/ScheduledStatuses.ts"
import { Statuses } from "../services/statuses/Statuses.ts"
import { Tags } from "../services/statuses/Tags.ts"
import { ViewerStates } from "../services/statuses/ViewerStates.ts"
import { remote } from "./Federation.ts"
import * as KeyOperations from "./KeyOperations.ts"

const identity = Layer.mergeAll(SignUps.layer, SignIns.layer, Grants.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Registrations.layer, MailLinks.layer, StaffEmails.layer, Apps.layer)),
  Layer.provideMerge(Layer.mergeAll(Emails.layer, Users.layer, Roles.layer, Settings.layer)),
  Layer.provideMerge(Layer.mergeAll(Sessions.layer, LiveTokens.layer)),
  Layer.provideMerge(Tokens.layer),
  Layer.provideMerge(OpaqueSecrets.layer)
)

const reading = Layer.mergeAll(
  AccountStatuses.layer,
  Activity.layer,
  Bookmarks.layer,
  FollowLists.layer,
  Contexts.layer,
  ConversationMutes.layer,
  Conversations.layer,
  UserDomainBlocks.layer,
  Blocks.layer,
  Mutes.layer,
  FeaturedTags.layer,
  Handles.layer,
  History.layer,
  HomeTimelines.layer,
  Instance.layer,
  Interactions.layer,
  Listeners.layer,
  Markers.layer,
  AccountNotes.layer,
  Notifications.layer,
  Relationships.layer,
  ScheduledStatuses.layer,
  Search.layer,
  Reports.layer,
  ViewerStates.layer,
  Tags.layer,
  Timelines.layer
).pipe(Layer.provideMerge(Layer.mergeAll(Accounts.layer, CustomEmojis.layer, Statuses.layer)))

/** Our objects as other servers know them, and theirs. */
const federation = Layer.mergeAll(
  Congestion.layer,
  FollowerDigests.layer,
  DeliveryHosts.layer,
  InboundActivities.layer,
  InboundPolicies.layer,
  LocalActors.layer,
  Mentions.layer,
  Objects.layer,
  PublishedBlocks.layer,
  FetchedBy.layer,
  Replies.layer,
  RemoteLookup.layer,
  Senders.layer
).pipe(
  Layer.provideMerge(remote),
  Layer.provide(KeyOperations.layer)
)

const composed = Layer.merge(GroupedNotifications.layer, federation).pipe(Layer.provideMerge(reading))

/** What the server knows and does beside its actors, over the database, the bus and the configuration. */
export const layer = Layer.merge(identity, composed)
