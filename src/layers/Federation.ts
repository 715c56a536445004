import { Layer } from "effect"
import { Fetches } from "../services/federation/Fetches.ts"
import { Inquiries } from "../services/federation/fetching/Inquiries.ts"
import { RemotePosts } from "../services/federation/fetching/RemotePosts.ts"
import { References } from "../services/federation/inbox/References.ts"
import { RemoteEmojis } from "../services/federation/inbox/RemoteEmojis.ts"
import { RemoteAccounts } from "../services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../services/federation/RemoteActors.ts"
import { Signatures } from "../services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../services/federation/SigningKeys.ts"
import { WebFingers } from "../services/federation/WebFingers.ts"
import * as KeyOperations from "./KeyOperations.ts"

/** What is had from other servers, and stored by way of `Imports`. */
export const remote = RemotePosts.layer.pipe(
  Layer.provideMerge(Layer.merge(RemoteActors.layer, References.layer)),
  Layer.provideMerge(Layer.mergeAll(RemoteAccounts.layer, Fetches.layer, WebFingers.layer)),
  Layer.provideMerge(Layer.mergeAll(RemoteEmojis.layer, SigningKeys.layer, Signatures.layer)),
  Layer.provide(KeyOperations.layer)
)

/** What asks other servers on behalf of the actors. */
export const inquiries = Inquiries.layer.pipe(Layer.provide(remote))
