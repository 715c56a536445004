import { Layer } from "effect"
import { DomainPolicies } from "../services/federation/domains/DomainPolicies.ts"
import { Fetches } from "../services/federation/Fetches.ts"
import { Inquiries } from "../services/federation/fetching/Inquiries.ts"
import { LookUps } from "../services/federation/fetching/LookUps.ts"
import { PollRefreshes } from "../services/federation/fetching/PollRefreshes.ts"
import { RemoteCollections } from "../services/federation/fetching/RemoteCollections.ts"
import { RemotePosts } from "../services/federation/fetching/RemotePosts.ts"
import { RemoteProfiles } from "../services/federation/fetching/RemoteProfiles.ts"
import { Threads } from "../services/federation/fetching/Threads.ts"
import { References } from "../services/federation/inbox/References.ts"
import { RemoteEmojis } from "../services/federation/inbox/RemoteEmojis.ts"
import { Purges } from "../services/federation/purge/Purges.ts"
import { Redirects } from "../services/federation/Redirects.ts"
import { RemoteAccounts } from "../services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../services/federation/RemoteActors.ts"
import { Signatures } from "../services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../services/federation/SigningKeys.ts"
import { WebFingers } from "../services/federation/WebFingers.ts"
import { AgendaEntries } from "../services/intents/Agenda.ts"
import { Errands } from "../services/intents/Errands.ts"
import { Moves } from "../services/social/Moves.ts"
import * as KeyOperations from "./KeyOperations.ts"

/** What is had from other servers, and stored by way of `Imports`. */
export const remote = Layer.mergeAll(Threads.layer, RemoteProfiles.layer, PollRefreshes.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(RemotePosts.layer, RemoteCollections.layer, LookUps.layer)),
  Layer.provideMerge(Layer.merge(RemoteActors.layer, References.layer)),
  Layer.provideMerge(Layer.mergeAll(RemoteAccounts.layer, Fetches.layer, WebFingers.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      DomainPolicies.layer,
      Moves.layer,
      Purges.layer,
      Redirects.layer,
      RemoteEmojis.layer,
      SigningKeys.layer,
      Signatures.layer
    )
  ),
  Layer.provideMerge(Errands.layer),
  Layer.provide(Layer.merge(AgendaEntries.layer, KeyOperations.layer))
)

/** What asks other servers on behalf of the actors. */
export const inquiries = Inquiries.layer.pipe(Layer.provide(remote))
