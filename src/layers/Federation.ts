import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { Broadcast } from "../services/events/Broadcast.ts"
import { DomainPolicies } from "../services/federation/domains/DomainPolicies.ts"
import type { FetchedPosts } from "../services/federation/fetching/FetchedPosts.ts"
import { OriginChecks } from "../services/federation/fetching/OriginChecks.ts"
import { PollRefreshes } from "../services/federation/fetching/PollRefreshes.ts"
import { RefreshClaims } from "../services/federation/fetching/RefreshClaims.ts"
import { RemoteCollections } from "../services/federation/fetching/RemoteCollections.ts"
import { RemotePosts } from "../services/federation/fetching/RemotePosts.ts"
import { RemoteProfiles } from "../services/federation/fetching/RemoteProfiles.ts"
import { Threads } from "../services/federation/fetching/Threads.ts"
import { KnownUris } from "../services/federation/inbox/KnownUris.ts"
import { MovedAccounts } from "../services/federation/MovedAccounts.ts"
import { ObjectFetcher } from "../services/federation/ObjectFetcher.ts"
import { RemoteAccounts } from "../services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../services/federation/RemoteActors.ts"
import type { ServerConfig } from "../services/instance/ServerConfig.ts"
import { AgendaEntries } from "../services/intents/AgendaEntries.ts"
import { Jobs } from "../services/intents/Jobs.ts"
import type { Outbound } from "../services/outbound/Outbound.ts"
import { Moves } from "../services/social/Moves.ts"
import * as NodeKeyOperations from "./NodeKeyOperations.ts"

type Needs = Broadcast | FetchedPosts | Outbound | ServerConfig | SqlClient.SqlClient

/** Services that fetch from other servers, and store through `FetchedPosts`. */
export const remote = Layer.satisfiesServicesType<Needs>()(
  Layer.mergeAll(
    DomainPolicies.layer,
    KnownUris.layer,
    ObjectFetcher.layer,
    PollRefreshes.layer,
    MovedAccounts.layer,
    RefreshClaims.layer,
    RemoteAccounts.layer,
    RemoteActors.layer,
    RemoteCollections.layer,
    RemotePosts.layer,
    RemoteProfiles.layer,
    Threads.layer
  ).pipe(
    Layer.provideMerge(Layer.merge(Jobs.layer, Moves.layer)),
    Layer.provide([AgendaEntries.layer, NodeKeyOperations.layer])
  )
)

/** Checks at origin servers on behalf of the actors. */
export const originChecks = Layer.satisfiesServicesType<Needs>()(
  OriginChecks.layer.pipe(Layer.provide([AgendaEntries.layer, Jobs.layer, NodeKeyOperations.layer]))
)
