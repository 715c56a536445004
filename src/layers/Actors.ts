import { Layer } from "effect"
import { Accounts } from "../actors/account/Accounts.ts"
import * as Account from "../actors/account/Entity.ts"
import * as Agenda from "../actors/agenda/Agenda.ts"
import { Departures } from "../services/federation/departure/Departures.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { References } from "../services/federation/inbox/References.ts"
import { RemoteEmojis } from "../services/federation/inbox/RemoteEmojis.ts"
import { RemotePolls } from "../services/federation/inbox/RemotePolls.ts"
import { RemoteStatuses } from "../services/federation/inbox/RemoteStatuses.ts"
import { Audiences } from "../services/feeds/Audiences.ts"
import { Notices } from "../services/feeds/Notices.ts"
import { Profiles } from "../services/identity/Profiles.ts"
import { AgendaEntries } from "../services/intents/Agenda.ts"
import { Commands } from "../services/intents/Commands.ts"
import { Errands } from "../services/intents/Errands.ts"
import { Fanouts } from "../services/intents/Fanouts.ts"
import { OutsideCommands } from "../services/intents/OutsideCommands.ts"
import { Retention } from "../services/intents/Retention.ts"
import { Attachings } from "../services/media/Attachings.ts"
import { Holdings } from "../services/media/Holdings.ts"
import { Flags } from "../services/moderation/Flags.ts"
import { Measures } from "../services/moderation/Measures.ts"
import { Reports } from "../services/moderation/Reports.ts"
import { Counterparts } from "../services/social/Counterparts.ts"
import { Follows } from "../services/social/Follows.ts"
import { Moves } from "../services/social/Moves.ts"
import { Restrictions } from "../services/social/Restrictions.ts"
import { Authors } from "../services/statuses/Authors.ts"
import { DirectThreads } from "../services/statuses/DirectThreads.ts"
import { Drafts } from "../services/statuses/Drafts.ts"
import { Favourites } from "../services/statuses/Favourites.ts"
import { Polls } from "../services/statuses/Polls.ts"
import { Publications } from "../services/statuses/Publications.ts"
import { Reblogs } from "../services/statuses/Reblogs.ts"
import { Targets } from "../services/statuses/Targets.ts"

/** What the actors know and do beside what every room shares. */
const services = Layer.mergeAll(
  Attachings.layer,
  Audiences.layer,
  Authors.layer,
  Counterparts.layer,
  Departures.layer,
  DirectThreads.layer,
  Errands.layer,
  Fanouts.layer,
  Favourites.layer,
  Flags.layer,
  Follows.layer,
  InboundActivities.layer,
  Measures.layer,
  Moves.layer,
  Notices.layer,
  OutsideCommands.layer,
  Polls.layer,
  Profiles.layer,
  Publications.layer,
  Reblogs.layer,
  References.layer,
  RemoteStatuses.layer,
  Reports.layer,
  Restrictions.layer,
  Retention.layer,
  Targets.layer
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(AgendaEntries.layer, Drafts.layer, Holdings.layer, RemoteEmojis.layer, RemotePolls.layer)
  )
)

/** The same as `layer` over `Commands` from outside, whose transactions decide what is done once. */
export const layerOverCommands = Layer.mergeAll(Account.layer, Agenda.layer).pipe(
  Layer.provideMerge(Accounts.layer),
  Layer.provide(services)
)

/**
 * The accounts' actors and the agenda on this node, and `Accounts`, by which everybody reaches them. Needs the
 * cluster, the database, feeds, the bus between nodes and the server's configuration.
 */
export const layer = layerOverCommands.pipe(Layer.provide(Commands.layer))
