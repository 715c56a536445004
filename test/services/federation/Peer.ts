import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as NodeKeyOperations from "../../../src/layers/NodeKeyOperations.ts"
import { Names } from "../../../src/layers/outbound/Names.ts"
import * as UndiciTransport from "../../../src/layers/outbound/UndiciTransport.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { DomainPolicies } from "../../../src/services/federation/domains/DomainPolicies.ts"
import { RemoteEmojis } from "../../../src/services/federation/inbox/RemoteEmojis.ts"
import { MovedAccounts } from "../../../src/services/federation/MovedAccounts.ts"
import { ObjectFetcher } from "../../../src/services/federation/ObjectFetcher.ts"
import { Purges } from "../../../src/services/federation/purge/Purges.ts"
import { RemoteAccounts } from "../../../src/services/federation/RemoteAccounts.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { Senders } from "../../../src/services/federation/Senders.ts"
import { Signatures } from "../../../src/services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../../../src/services/federation/SigningKeys.ts"
import { WebFingers } from "../../../src/services/federation/WebFingers.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { AgendaEntries } from "../../../src/services/intents/AgendaEntries.ts"
import { Jobs } from "../../../src/services/intents/Jobs.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { committedOnly } from "../../support/CommittedOnly.ts"
import * as KeyPairs from "../../support/KeyPairs.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { activityJson, host } from "../outbound/FarHosts.ts"

/** Clients of remote servers, with real loopback sockets and their own database. */
export const remote = Senders.layer.pipe(
  Layer.provideMerge(RemoteActors.layer),
  Layer.provideMerge(Layer.mergeAll(RemoteAccounts.layer, ObjectFetcher.layer, WebFingers.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      Signatures.layer,
      SigningKeys.layer,
      Outbound.layer,
      RemoteEmojis.layer,
      Purges.layer,
      MovedAccounts.layer
    )
  ),
  Layer.provideMerge(Layer.merge(AgendaEntries.layer, Jobs.layer)),
  Layer.provideMerge(Layer.merge(DomainPolicies.layer, DomainPolicies.layerHostPolicy)),
  Layer.provideMerge(Layer.mergeAll(UndiciTransport.layerWith({}), NodeKeyOperations.layer, Broadcast.layerMemory)),
  Layer.provide(Layer.succeed(Names, { resolve: () => Effect.succeed([]) })),
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, NodeCrypto.layer, committedOnly)),
  Layer.provideMerge(Layer.succeed(ServerConfig, {
    ...configuration,
    outboundAllow: [IpNetwork.fromStringUnsafe("127.0.0.0/8")]
  }))
)

export type Json = Record<string, unknown>

/** Starts another server: documents by path, and WebFinger by resource; both may be changed at any time. */
export const peer = Effect.gen(function*() {
  type Served = Json | ((request: IncomingMessage, response: ServerResponse) => void)
  const documents = new Map<string, Served>()
  const fingers = new Map<string, Served>()
  const place = yield* host((request, response) => {
    const url = new URL(request.url ?? "", "http://peer.test")
    const resource = url.searchParams.get("resource")
    const found = resource === null ? documents.get(url.pathname) : fingers.get(resource)
    if (typeof found === "function") found(request, response)
    else if (found === undefined) response.writeHead(404).end()
    else {
      response.writeHead(200, resource === null ? activityJson : { "content-type": "application/jrd+json" })
        .end(JSON.stringify(found))
    }
  })
  const domain = `127.0.0.1:${place.port}`
  const finger = (name: string, actor: string, subject = `acct:${name}@${domain}`): Json => ({
    subject,
    links: [{ rel: "self", type: "application/activity+json", href: actor }]
  })
  /** Adds a valid account with its own key; `more` changes its document. */
  const actor = Effect.fnUntraced(function*(name: string, more: Json = {}) {
    const pair = yield* KeyPairs.next
    const id = `${place.url}/users/${name}`
    const keyId = `${id}#main-key`
    documents.set(`/users/${name}`, {
      "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
      id,
      type: "Person",
      preferredUsername: name,
      inbox: `${id}/inbox`,
      followers: `${id}/followers`,
      endpoints: { sharedInbox: `${place.url}/inbox` },
      publicKey: { id: keyId, owner: id, publicKeyPem: pair.publicPem },
      ...more
    })
    fingers.set(`acct:${name}@${domain}`, finger(name, id))
    return { ...pair, id, keyId, name }
  })
  return { ...place, domain, documents, fingers, finger, actor }
})

export type Peer = Effect.Success<typeof peer>
