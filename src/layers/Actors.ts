import { Layer } from "effect"
import type { Sharding } from "effect/cluster"
import type { SqlClient } from "effect/sql"
import * as AccountEntity from "../actors/account/AccountEntity.ts"
import { AccountActors } from "../actors/account/core/AccountActors.ts"
import * as Waking from "../actors/account/core/Waking.ts"
import * as FetchedPosts from "../actors/account/inbox/InboxFetchedPosts.ts"
import * as Agenda from "../actors/agenda/Agenda.ts"
import { DomainActors } from "../actors/domain/DomainActors.ts"
import * as DomainEntity from "../actors/domain/DomainEntity.ts"
import { AnnouncementReactions } from "../services/announcements/AnnouncementReactions.ts"
import { AnnouncementWriter } from "../services/announcements/AnnouncementWriter.ts"
import { AnnualReports } from "../services/annual/AnnualReports.ts"
import { StatusCards } from "../services/cards/StatusCards.ts"
import { CollectionWriter } from "../services/collections/CollectionWriter.ts"
import { TaggedCollections } from "../services/collections/TaggedCollections.ts"
import { EmailChoices } from "../services/emails/EmailChoices.ts"
import { PromisedEmails } from "../services/emails/PromisedEmails.ts"
import type { Broadcast } from "../services/events/Broadcast.ts"
import { DomainEnforcement } from "../services/federation/domains/DomainEnforcement.ts"
import { DomainPolicies } from "../services/federation/domains/DomainPolicies.ts"
import { Severances } from "../services/federation/domains/Severances.ts"
import type { OriginChecks } from "../services/federation/fetching/OriginChecks.ts"
import { FollowerDigests } from "../services/federation/FollowerDigests.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { InboundRetention } from "../services/federation/inbox/InboundRetention.ts"
import { KnownUris } from "../services/federation/inbox/KnownUris.ts"
import { QuoteConsents } from "../services/federation/inbox/QuoteConsents.ts"
import { RemoteEmojis } from "../services/federation/inbox/RemoteEmojis.ts"
import { RemoteFeaturedCollections } from "../services/federation/inbox/RemoteFeaturedCollections.ts"
import { RemotePolls } from "../services/federation/inbox/RemotePolls.ts"
import { RemoteQuotes } from "../services/federation/inbox/RemoteQuotes.ts"
import { RemoteStatuses } from "../services/federation/inbox/RemoteStatuses.ts"
import { Tombstones } from "../services/federation/inbox/Tombstones.ts"
import { Undoables } from "../services/federation/inbox/Undoables.ts"
import { UnknownMentions } from "../services/federation/inbox/UnknownMentions.ts"
import { LocalActors } from "../services/federation/LocalActors.ts"
import { Objects } from "../services/federation/Objects.ts"
import { Deliveries } from "../services/federation/outbox/Deliveries.ts"
import { DeliveryExpansion } from "../services/federation/outbox/DeliveryExpansion.ts"
import { DeliveryHosts } from "../services/federation/outbox/DeliveryHosts.ts"
import { FeatureActivities } from "../services/federation/outbox/FeatureActivities.ts"
import { FollowActivities } from "../services/federation/outbox/FollowActivities.ts"
import { InteractionActivities } from "../services/federation/outbox/InteractionActivities.ts"
import { Outbox } from "../services/federation/outbox/Outbox.ts"
import { OutgoingActivities } from "../services/federation/outbox/OutgoingActivities.ts"
import { PostActivities } from "../services/federation/outbox/PostActivities.ts"
import { QuoteActivities } from "../services/federation/outbox/QuoteActivities.ts"
import { ReactionActivities } from "../services/federation/outbox/ReactionActivities.ts"
import { InboundPolicies } from "../services/federation/policies/InboundPolicies.ts"
import { Purges } from "../services/federation/purge/Purges.ts"
import { Relays } from "../services/federation/relays/Relays.ts"
import { Signatures } from "../services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../services/federation/SigningKeys.ts"
import type { Feeds } from "../services/feeds/Feeds.ts"
import { NotificationWriter } from "../services/feeds/NotificationWriter.ts"
import { StatusReaders } from "../services/feeds/StatusReaders.ts"
import { StatusSubscribers } from "../services/feeds/StatusSubscribers.ts"
import { Accounts as AccountRecords } from "../services/identity/Accounts.ts"
import { Handles } from "../services/identity/Handles.ts"
import { Profiles } from "../services/identity/Profiles.ts"
import { CustomEmojis } from "../services/instance/CustomEmojis.ts"
import type { ServerConfig } from "../services/instance/ServerConfig.ts"
import { AgendaEntries } from "../services/intents/AgendaEntries.ts"
import { Commands } from "../services/intents/Commands.ts"
import { Fanouts } from "../services/intents/Fanouts.ts"
import { Jobs } from "../services/intents/Jobs.ts"
import { OperatorCommands } from "../services/intents/OperatorCommands.ts"
import { Retention } from "../services/intents/Retention.ts"
import { Wakes } from "../services/intents/Wakes.ts"
import { AttachmentWriter } from "../services/media/AttachmentWriter.ts"
import { FileOwners } from "../services/media/FileOwners.ts"
import { AccountActions } from "../services/moderation/AccountActions.ts"
import { CollectionActions } from "../services/moderation/CollectionActions.ts"
import { Deletions } from "../services/moderation/Deletions.ts"
import { Flags } from "../services/moderation/Flags.ts"
import { ReportDesk } from "../services/moderation/ReportDesk.ts"
import { Reports } from "../services/moderation/Reports.ts"
import { ServerReports } from "../services/moderation/ServerReports.ts"
import { StatusActions } from "../services/moderation/StatusActions.ts"
import type { Outbound } from "../services/outbound/Outbound.ts"
import { StatusIndex } from "../services/search/StatusIndex.ts"
import { Blocks } from "../services/social/Blocks.ts"
import { Endorsements } from "../services/social/Endorsements.ts"
import { Follows } from "../services/social/Follows.ts"
import { MoveFollowers } from "../services/social/MoveFollowers.ts"
import { Moves } from "../services/social/Moves.ts"
import { Mutes } from "../services/social/Mutes.ts"
import { TargetAccounts } from "../services/social/TargetAccounts.ts"
import { UserDomainBlocks } from "../services/social/UserDomainBlocks.ts"
import { SpamScreening } from "../services/spam/SpamScreening.ts"
import { AuditLog } from "../services/staff/AuditLog.ts"
import { Authors } from "../services/statuses/Authors.ts"
import { ConversationWriter } from "../services/statuses/ConversationWriter.ts"
import { Drafts } from "../services/statuses/Drafts.ts"
import { EmojiReactions } from "../services/statuses/EmojiReactions.ts"
import { Favourites } from "../services/statuses/Favourites.ts"
import { FeaturedTags } from "../services/statuses/FeaturedTags.ts"
import { HeldStatuses } from "../services/statuses/HeldStatuses.ts"
import { InteractionRequests } from "../services/statuses/InteractionRequests.ts"
import { PolicyVerdicts } from "../services/statuses/PolicyVerdicts.ts"
import { Polls } from "../services/statuses/Polls.ts"
import { PostCleanups } from "../services/statuses/PostCleanups.ts"
import { Quotes } from "../services/statuses/Quotes.ts"
import { Reblogs } from "../services/statuses/Reblogs.ts"
import { ReplyRemovals } from "../services/statuses/ReplyRemovals.ts"
import { ReviewedStatuses } from "../services/statuses/ReviewedStatuses.ts"
import { Statuses } from "../services/statuses/Statuses.ts"
import { StatusTargets } from "../services/statuses/StatusTargets.ts"
import { StatusWriter } from "../services/statuses/StatusWriter.ts"
import { TagFollows } from "../services/statuses/TagFollows.ts"
import { Tags } from "../services/statuses/Tags.ts"
import { DigestPosts } from "../services/subscriptions/DigestPosts.ts"
import { TrendRefresh } from "../services/trends/TrendRefresh.ts"
import { originChecks } from "./Federation.ts"
import * as NodeKeyOperations from "./NodeKeyOperations.ts"

type Stored = Broadcast | Feeds | ServerConfig | SqlClient.SqlClient
type Others = Stored | Outbound | Sharding.Sharding

/** Services of the actors, besides those that all areas share. */
const services = Layer.satisfiesServicesType<Stored | Wakes>()(
  Layer.mergeAll(
    AnnouncementReactions.layer,
    AnnouncementWriter.layer,
    AnnualReports.layer,
    AccountActions.layer,
    AttachmentWriter.layer,
    Authors.layer,
    Blocks.layer,
    Deletions.layer,
    Deliveries.layer,
    DeliveryExpansion.layer,
    DeliveryHosts.layer,
    CollectionWriter.layer,
    ConversationWriter.layer,
    DigestPosts.layer,
    DomainEnforcement.layer,
    DomainPolicies.layer,
    FeatureActivities.layer,
    RemoteFeaturedCollections.layer,
    Fanouts.layer,
    Favourites.layer,
    FeaturedTags.layer,
    PostCleanups.layer,
    Flags.layer,
    FollowActivities.layer,
    FollowerDigests.layer,
    Follows.layer,
    InboundActivities.layer,
    InboundPolicies.layer,
    KnownUris.layer,
    LocalActors.layer,
    MoveFollowers.layer,
    Moves.layer,
    EmailChoices.layer,
    EmojiReactions.layer,
    Endorsements.layer,
    Mutes.layer,
    Objects.layer,
    OperatorCommands.layer,
    Outbox.layer,
    OutgoingActivities.layer,
    Polls.layer,
    InteractionActivities.layer,
    InteractionRequests.layer,
    PolicyVerdicts.layer,
    Quotes.layer,
    ReplyRemovals.layer,
    PostActivities.layer,
    PromisedEmails.layer,
    QuoteActivities.layer,
    ReactionActivities.layer,
    Profiles.layer,
    InboundRetention.layer,
    Purges.layer,
    Reblogs.layer,
    Relays.layer,
    RemoteEmojis.layer,
    RemotePolls.layer,
    RemoteQuotes.layer,
    RemoteStatuses.layer,
    ReportDesk.layer,
    Reports.layer,
    Retention.layer,
    ReviewedStatuses.layer,
    ServerReports.layer,
    SpamScreening.layer,
    AuditLog.layer,
    QuoteConsents.layer,
    Severances.layer,
    StatusCards.layer,
    TaggedCollections.layer,
    StatusIndex.layer,
    Signatures.layer,
    SigningKeys.layer,
    StatusReaders.layer,
    StatusSubscribers.layer,
    CollectionActions.layer,
    StatusActions.layer,
    StatusTargets.layer,
    StatusWriter.layer,
    TagFollows.layer,
    Tags.layer,
    TargetAccounts.layer,
    Tombstones.layer,
    TrendRefresh.layer,
    Undoables.layer,
    UnknownMentions.layer,
    UserDomainBlocks.layer
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        AccountRecords.layer,
        AgendaEntries.layer,
        CustomEmojis.layer,
        Drafts.layer,
        FileOwners.layer,
        Handles.layer,
        HeldStatuses.layer,
        Jobs.layer,
        NotificationWriter.layer,
        Statuses.layer
      )
    ),
    Layer.provide(NodeKeyOperations.layer)
  )
)

/** Actors over provided `Commands`, whose transactions deduplicate commands. */
export const layerOverCommands = Layer.satisfiesServicesType<Commands | OriginChecks | Others>()(
  Layer.mergeAll(AccountEntity.layer, Agenda.layer, DomainEntity.layer, Waking.layer).pipe(
    Layer.provideMerge(FetchedPosts.layer),
    Layer.provideMerge(Layer.merge(AccountActors.layer, DomainActors.layer)),
    Layer.provide(services),
    Layer.provide(Wakes.layer)
  )
)

/**
 * The accounts' actors and the agenda on this node, and `AccountActors`, the client through which all others reach
 * them. Needs the cluster, the database, feeds, the broadcast bus, outbound requests, the server's configuration and
 * origin checks.
 */
export const layer = layerOverCommands.pipe(Layer.provide(Commands.layer))

/** Actors of a federated server. */
export const layerFederated = Layer.satisfiesServicesType<Others>()(
  layer.pipe(Layer.provide(originChecks.pipe(Layer.provide(FetchedPosts.layer), Layer.provide(AccountActors.layer))))
)
