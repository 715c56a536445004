import { Effect, Layer } from "effect"
import { serverConfig } from "../layers/Environment.ts"
import { outbound } from "../layers/Foundation.ts"
import * as NodeKeyOperations from "../layers/NodeKeyOperations.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { parseHandle } from "../services/federation/DomainNames.ts"
import { DomainPolicies } from "../services/federation/domains/DomainPolicies.ts"
import { RemoteEmojis } from "../services/federation/inbox/RemoteEmojis.ts"
import { MovedAccounts } from "../services/federation/MovedAccounts.ts"
import { ObjectFetcher } from "../services/federation/ObjectFetcher.ts"
import { Purges } from "../services/federation/purge/Purges.ts"
import { RemoteAccounts } from "../services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../services/federation/RemoteActors.ts"
import { Signatures } from "../services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../services/federation/SigningKeys.ts"
import { WebFingers } from "../services/federation/WebFingers.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import * as Urls from "../services/instance/Urls.ts"
import { AgendaEntries } from "../services/intents/AgendaEntries.ts"
import { Jobs } from "../services/intents/Jobs.ts"
import { Moves } from "../services/social/Moves.ts"
import { findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"

/** Services of commands that send requests to other servers, under the same guards as the server's requests. */
export const layer = Layer.satisfiesServicesType<never>()(
  Layer.merge(RemoteActors.layer, Moves.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(RemoteAccounts.layer, ObjectFetcher.layer, WebFingers.layer)),
    Layer.provide(
      Layer.mergeAll(SigningKeys.layer, Signatures.layer, RemoteEmojis.layer, Purges.layer, MovedAccounts.layer)
    ),
    Layer.provide(Layer.merge(AgendaEntries.layer, Jobs.layer)),
    Layer.provide(NodeKeyOperations.layer),
    Layer.provide(outbound),
    Layer.provide(DomainPolicies.layer),
    Layer.provideMerge(serverConfig),
    Layer.provideMerge(Operator.layer)
  )
)

/** Returns the account of `name` or `name@domain`; a remote one is refetched. */
export const account = Effect.fnUntraced(function*(handle: string) {
  const config = yield* ServerConfig
  const actors = yield* RemoteActors
  const parsed = parseHandle(handle)
  if (parsed === undefined || parsed.domain === config.localDomain) {
    const { accountId, actorPath } = yield* findUser(parsed?.username ?? handle)
    return { id: accountId, uri: Urls.actor(config, actorPath) }
  }
  return yield* actors.findByHandle(handle).pipe(
    Effect.flatMap(({ uri }) => actors.refresh(uri)),
    Effect.mapError(({ message }) => new OperatorError({ message: `${handle} could not be fetched: ${message}` }))
  )
})
