import { Effect } from "effect"
import * as Cavage from "../../src/services/federation/signatures/Cavage.ts"
import { KeyOperations } from "../../src/services/federation/signatures/KeyOperations.ts"
import type { Json, Peer } from "../services/federation/Peer.ts"
import type { TestInstance } from "../support/Fediverse.ts"

type RemoteAccount = Effect.Success<ReturnType<Peer["actor"]>>

/** Sends activities of a remote account to an inbox of a server, with Cavage signatures. */
export const sendTo =
  ({ fetch, origin }: Pick<TestInstance, "fetch" | "origin">, by: RemoteAccount, inbox = "/inbox") =>
  (activity: Json) =>
    Effect.gen(function*() {
      const keys = yield* KeyOperations
      const text = JSON.stringify({ "@context": "https://www.w3.org/ns/activitystreams", actor: by.id, ...activity })
      const body = new TextEncoder().encode(text)
      const url = new URL(origin + inbox)
      const request = { method: "POST", url, keyId: by.keyId, now: Date.now(), body } as const
      const { base, headers } = Cavage.toSign({ ...request, headers: { "content-type": "application/activity+json" } })
      const signed = headers(yield* Effect.orDie(keys.sign(by.privatePem, base)))
      const { status } = yield* fetch(inbox, { method: "POST", headers: signed, body })
      if (status !== 202) return yield* Effect.die(new Error(`the inbox responded with ${status}`))
    })

/** Makes a public note of an account. */
export const note = (by: RemoteAccount, name: string, more: Json = {}): Json => ({
  id: `${by.id}/notes/${name}`,
  type: "Note",
  attributedTo: by.id,
  content: `<p>${name}</p>`,
  to: ["https://www.w3.org/ns/activitystreams#Public"],
  cc: [`${by.id}/followers`],
  ...more
})
