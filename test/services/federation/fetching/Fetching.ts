import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Actors from "../../../../src/layers/Actors.ts"
import { RemotePosts } from "../../../../src/services/federation/fetching/RemotePosts.ts"
import { KnownUris } from "../../../../src/services/federation/inbox/KnownUris.ts"
import { Feeds } from "../../../../src/services/feeds/Feeds.ts"
import { cluster } from "../../../support/Actors.ts"
import { type Json, type Peer, remote } from "../Peer.ts"

/** Fetchers of posts, with actors that store them and real loopback sockets to other servers. */
export const fetching = RemotePosts.layer.pipe(
  Layer.provideMerge(KnownUris.layer),
  Layer.provideMerge(Actors.layerFederated),
  Layer.provideMerge(Feeds.layerMemory),
  Layer.provide(cluster),
  Layer.provideMerge(remote)
)

/** Makes a note as its server serves it; `more` changes it. */
export const noteOf = (actorId: string, name: string, more: Json = {}): Json & { readonly id: string } => ({
  "@context": "https://www.w3.org/ns/activitystreams",
  id: `${actorId}/notes/${name}`,
  type: "Note",
  attributedTo: actorId,
  content: `<p>${name}</p>`,
  to: ["https://www.w3.org/ns/activitystreams#Public"],
  cc: [`${actorId}/followers`],
  ...more
})

/** Serves a document at its id; returns the id. */
export const serve = (peer: Peer, document: Json & { readonly id: string }) => {
  peer.documents.set(new URL(document.id).pathname, document)
  return document.id
}

/** Returns the number of requests to a server for a document. */
export const timesAsked = (peer: Peer, uri: string) =>
  peer.requests.filter(({ url }) => url === new URL(uri).pathname).length

export const statusesHere = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ uri: string }>`SELECT uri FROM statuses WHERE deleted_at IS NULL AND NOT local ORDER BY id`
)
  .pipe(Effect.map((rows) => rows.map(({ uri }) => uri)))
