import { Layer } from "effect"
import { DomainPolicies } from "../services/federation/domains/DomainPolicies.ts"
import { OriginChecks } from "../services/federation/fetching/OriginChecks.ts"
import { PollRefreshes } from "../services/federation/fetching/PollRefreshes.ts"
import { RefreshClaims } from "../services/federation/fetching/RefreshClaims.ts"
import { RemoteCollections } from "../services/federation/fetching/RemoteCollections.ts"
import { RemotePosts } from "../services/federation/fetching/RemotePosts.ts"
import { RemoteProfiles } from "../services/federation/fetching/RemoteProfiles.ts"
import { Threads } from "../services/federation/fetching/Threads.ts"
import { KnownUris } from "../services/federation/inbox/KnownUris.ts"
import { RemoteEmojis } from "../services/federation/inbox/RemoteEmojis.ts"
import { MovedAccounts } from "../services/federation/MovedAccounts.ts"
import { ObjectFetcher } from "../services/federation/ObjectFetcher.ts"
import { Purges } from "../services/federation/purge/Purges.ts"
import { RemoteAccounts } from "../services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../services/federation/RemoteActors.ts"
import { Signatures } from "../services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../services/federation/SigningKeys.ts"
import { WebFingers } from "../services/federation/WebFingers.ts"
import { AgendaEntries } from "../services/intents/AgendaEntries.ts"
import { Jobs } from "../services/intents/Jobs.ts"
import { Moves } from "../services/social/Moves.ts"
import * as KeyOperations from "./KeyOperations.ts"

/** Fetches from other servers and stores by way of `FetchedPosts`. */
export const remote = Layer.mergeAll(Threads.layer, RemoteProfiles.layer, PollRefreshes.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(RemotePosts.layer, RemoteCollections.layer, RefreshClaims.layer)),
  Layer.provideMerge(Layer.merge(RemoteActors.layer, KnownUris.layer)),
  Layer.provideMerge(Layer.mergeAll(RemoteAccounts.layer, ObjectFetcher.layer, WebFingers.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      DomainPolicies.layer,
      Moves.layer,
      Purges.layer,
      MovedAccounts.layer,
      RemoteEmojis.layer,
      SigningKeys.layer,
      Signatures.layer
    )
  ),
  Layer.provideMerge(Jobs.layer),
  Layer.provide(Layer.merge(AgendaEntries.layer, KeyOperations.layer))
)

/** What asks other servers on behalf of the actors. */
export const originChecks = OriginChecks.layer.pipe(Layer.provide(remote))
