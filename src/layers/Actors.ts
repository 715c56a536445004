import { Layer } from "effect"
import { Accounts } from "../actors/account/Accounts.ts"
import * as Account from "../actors/account/Entity.ts"
import * as Imports from "../actors/account/Imports.ts"
import * as Waking from "../actors/account/Waking.ts"
import * as Agenda from "../actors/agenda/Agenda.ts"
import * as Domain from "../actors/domain/Entity.ts"
import { RemoteDomains } from "../actors/domain/RemoteDomains.ts"
import { DomainMeasures } from "../services/federation/domains/DomainMeasures.ts"
import { DomainRules } from "../services/federation/domains/DomainRules.ts"
import { Severances } from "../services/federation/domains/Severances.ts"
import { FollowerDigests } from "../services/federation/FollowerDigests.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { References } from "../services/federation/inbox/References.ts"
import { RemoteEmojis } from "../services/federation/inbox/RemoteEmojis.ts"
import { RemotePolls } from "../services/federation/inbox/RemotePolls.ts"
import { RemoteStatuses } from "../services/federation/inbox/RemoteStatuses.ts"
import { Tombstones } from "../services/federation/inbox/Tombstones.ts"
import { Undoables } from "../services/federation/inbox/Undoables.ts"
import { UnknownMentions } from "../services/federation/inbox/UnknownMentions.ts"
import { LocalActors } from "../services/federation/LocalActors.ts"
import { Objects } from "../services/federation/Objects.ts"
import { Deliveries } from "../services/federation/outbox/Deliveries.ts"
import { Departures } from "../services/federation/outbox/Departures.ts"
import { Expansions } from "../services/federation/outbox/Expansions.ts"
import { FollowActivities } from "../services/federation/outbox/FollowActivities.ts"
import { Hosts } from "../services/federation/outbox/Hosts.ts"
import { Outbox } from "../services/federation/outbox/Outbox.ts"
import { PostActivities } from "../services/federation/outbox/PostActivities.ts"
import { Purges } from "../services/federation/purge/Purges.ts"
import { Judgements } from "../services/federation/rules/Judgements.ts"
import { Signatures } from "../services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../services/federation/SigningKeys.ts"
import { Audiences } from "../services/feeds/Audiences.ts"
import { NotificationWriter } from "../services/feeds/NotificationWriter.ts"
import { Accounts as AccountRecords } from "../services/identity/Accounts.ts"
import { Handles } from "../services/identity/Handles.ts"
import { Profiles } from "../services/identity/Profiles.ts"
import { CustomEmojis } from "../services/instance/CustomEmojis.ts"
import { AgendaEntries } from "../services/intents/Agenda.ts"
import { Commands } from "../services/intents/Commands.ts"
import { Errands } from "../services/intents/Errands.ts"
import { Fanouts } from "../services/intents/Fanouts.ts"
import { OutsideCommands } from "../services/intents/OutsideCommands.ts"
import { Retention } from "../services/intents/Retention.ts"
import { Wakes } from "../services/intents/Wakes.ts"
import { Attachings } from "../services/media/Attachings.ts"
import { Holdings } from "../services/media/Holdings.ts"
import { Flags } from "../services/moderation/Flags.ts"
import { Measures } from "../services/moderation/Measures.ts"
import { Reports } from "../services/moderation/Reports.ts"
import { Counterparts } from "../services/social/Counterparts.ts"
import { DomainMutes } from "../services/social/DomainMutes.ts"
import { Follows } from "../services/social/Follows.ts"
import { Moves } from "../services/social/Moves.ts"
import { Restrictions } from "../services/social/Restrictions.ts"
import { Authors } from "../services/statuses/Authors.ts"
import { DirectThreads } from "../services/statuses/DirectThreads.ts"
import { Drafts } from "../services/statuses/Drafts.ts"
import { Favourites } from "../services/statuses/Favourites.ts"
import { FeaturedTags } from "../services/statuses/FeaturedTags.ts"
import { Polls } from "../services/statuses/Polls.ts"
import { Publications } from "../services/statuses/Publications.ts"
import { Reblogs } from "../services/statuses/Reblogs.ts"
import { Statuses } from "../services/statuses/Statuses.ts"
import { Targets } from "../services/statuses/Targets.ts"
import { inquiries } from "./Federation.ts"
import * as KeyOperations from "./KeyOperations.ts"

/** What leaves for other servers. */
const leaving = Layer.mergeAll(Departures.layer, Expansions.layer, FollowActivities.layer, PostActivities.layer).pipe(
  Layer.provideMerge(
    Layer.mergeAll(Outbox.layer, Deliveries.layer, FollowerDigests.layer, Hosts.layer, Objects.layer, LocalActors.layer)
  ),
  Layer.provideMerge(Layer.mergeAll(AccountRecords.layer, CustomEmojis.layer, Handles.layer, Statuses.layer)),
  Layer.provideMerge(Layer.merge(SigningKeys.layer, Signatures.layer)),
  Layer.provide(KeyOperations.layer)
)

/** What the actors know and do beside what every room shares. */
const services = Layer.mergeAll(
  Attachings.layer,
  Audiences.layer,
  Authors.layer,
  Counterparts.layer,
  DirectThreads.layer,
  Errands.layer,
  DomainMeasures.layer,
  DomainMutes.layer,
  Fanouts.layer,
  Favourites.layer,
  FeaturedTags.layer,
  Flags.layer,
  Follows.layer,
  InboundActivities.layer,
  Judgements.layer,
  Measures.layer,
  Moves.layer,
  OutsideCommands.layer,
  Polls.layer,
  Profiles.layer,
  Publications.layer,
  Reblogs.layer,
  RemoteStatuses.layer,
  Reports.layer,
  Restrictions.layer,
  Retention.layer,
  Purges.layer,
  Targets.layer,
  Tombstones.layer,
  Undoables.layer,
  UnknownMentions.layer.pipe(Layer.provide(Errands.layer))
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      AgendaEntries.layer,
      DomainRules.layer,
      Drafts.layer,
      Holdings.layer,
      NotificationWriter.layer,
      References.layer,
      RemoteEmojis.layer,
      RemotePolls.layer,
      Severances.layer,
      leaving
    )
  )
)

/** The same as `layer` over `Commands` from outside, whose transactions decide what is done once. */
export const layerOverCommands = Layer.mergeAll(Account.layer, Agenda.layer, Domain.layer, Waking.layer).pipe(
  Layer.provideMerge(Imports.layer),
  Layer.provideMerge(Layer.merge(Accounts.layer, RemoteDomains.layer)),
  Layer.provide(services),
  Layer.provide(Wakes.layer)
)

/**
 * The accounts' actors and the agenda on this node, and `Accounts`, by which everybody reaches them. Needs the
 * cluster, the database, feeds, the bus between nodes, the way out to other servers, the server's configuration and whoever
 * asks other servers.
 */
export const layer = layerOverCommands.pipe(Layer.provide(Commands.layer))

/** The same for a server that others talk to. */
export const layerFederated = layer.pipe(
  Layer.provide(inquiries.pipe(Layer.provide(Imports.layer), Layer.provide(Accounts.layer)))
)
