import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeKeyOperations from "../../../src/layers/NodeKeyOperations.ts"
import * as Cavage from "../../../src/services/federation/signatures/Cavage.ts"
import { KeyOperations } from "../../../src/services/federation/signatures/KeyOperations.ts"
import { type Json, type Peer, peer } from "../../services/federation/Peer.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"

/** Another server that federates with the server under test. */
export class OtherServer extends Context.Service<OtherServer, Peer>()("murmuration/test/OtherServer") {}

/** The server under test with these variables, and another server. */
export const serversWith = (variables: Record<string, string>) =>
  Layer.effect(OtherServer, peer).pipe(
    Layer.provideMerge(NodeKeyOperations.layer),
    Layer.provideMerge(TestServer.layer({ OUTBOUND_ALLOW: "127.0.0.0/8", ...variables }))
  )
export const servers = serversWith({})

export type RemotePerson = Effect.Success<ReturnType<Peer["actor"]>>

/** Makes the headers of a signed POST for a raw body. */
export const signed = Effect.fnUntraced(function*(by: RemotePerson, text: string, url: URL, now = Date.now()) {
  const keys = yield* KeyOperations
  const body = new TextEncoder().encode(text)
  const request = { method: "POST", url, keyId: by.keyId, now, body } as const
  const { base, headers } = Cavage.toSign({ ...request, headers: { "content-type": "application/activity+json" } })
  return { body, headers: headers(yield* Effect.orDie(keys.sign(by.privatePem, base))) }
})

/** Sends a raw body, signed at a time in milliseconds since 1970; returns the status. */
export const sendBody = Effect.fnUntraced(function*(by: RemotePerson, text: string, path = "/inbox", now?: number) {
  const { baseUrl, fetch } = yield* TestServer
  const { body, headers } = yield* signed(by, text, new URL(baseUrl + path), now)
  return (yield* fetch(path, { method: "POST", headers, body })).status
})

let count = 0

/** Sends an activity of an account, completed with a context and an id. */
export const send = (by: RemotePerson, activity: Json, path?: string) =>
  sendBody(
    by,
    JSON.stringify({
      "@context": "https://www.w3.org/ns/activitystreams",
      id: `${by.id}/activities/${++count}`,
      actor: by.id,
      ...activity
    }),
    path
  )

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/**
 * Waits until all inbound activities and all work that follows from them are done; returns the outcome of the newest.
 */
export const settled = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const waiting = sql<
    { count: number }
  >`SELECT (SELECT count(*) FROM inbound_activities WHERE outcome IS NULL AND tries = 0)::int
    + (SELECT count(*) FROM fanouts)::int AS count`
  yield* eventually(Effect.andThen(turn, waiting), ([row]) => row?.count === 0)
  const [row] = yield* sql<{ outcome: string | null }>`SELECT outcome FROM inbound_activities ORDER BY id DESC LIMIT 1`
  return row?.outcome
})

/** Sends an activity and returns its outcome. */
export const deliverFrom = (by: RemotePerson, activity: Json) => Effect.andThen(send(by, activity), settled)

/** Makes a public note of an account. */
export const note = (by: Pick<RemotePerson, "id">, name: string, more: Json = {}): Json => ({
  id: `${by.id}/notes/${name}`,
  type: "Note",
  attributedTo: by.id,
  content: `<p>${name}</p>`,
  to: ["https://www.w3.org/ns/activitystreams#Public"],
  cc: [`${by.id}/followers`],
  ...more
})
