import { Effect, Layer, Result } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as NodeKeyOperations from "../../src/layers/NodeKeyOperations.ts"
import * as Cavage from "../../src/services/federation/signatures/Cavage.ts"
import { KeyOperations } from "../../src/services/federation/signatures/KeyOperations.ts"
import * as MessageSignatures from "../../src/services/federation/signatures/MessageSignatures.ts"
import { peer } from "../services/federation/Peer.ts"

// Tests read activities of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** An activity received by the other server's inbox. */
export interface ReceivedActivity {
  readonly activity: Json
  readonly keyId: string
  readonly headers: IncomingMessage["headers"]
}

const readBody = (request: IncomingMessage) =>
  new Promise<Buffer>((resolve) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => resolve(Buffer.concat(chunks)))
  })

/** Starts a server with accounts whose inbox records everything, verifies signatures, and responds as configured. */
export const listener = Effect.fnUntraced(function*() {
  const found = yield* peer
  const keys = yield* KeyOperations
  const received: Array<ReceivedActivity> = []
  const publicKeys = new Map<string, string>()
  const state = { status: 202 }

  const keyOf = async (keyId: string) => {
    const known = publicKeys.get(keyId)
    if (known !== undefined) return known
    const response = await fetch(keyId, { headers: { accept: "application/activity+json" } })
    const { publicKey }: Json = await response.json()
    if (publicKey.id !== keyId) throw new Error(`${keyId} is not what its document says`)
    publicKeys.set(keyId, publicKey.publicKeyPem)
    return String(publicKey.publicKeyPem)
  }

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const signed = { method: "POST", target: request.url ?? "", headers, body }
    const claim = Result.getOrThrow(
      headers["signature-input"] === undefined
        ? Cavage.claim(signed, new URL(found.url), Date.now())
        : MessageSignatures.claim(signed, new URL(found.url), Date.now())
    )
    const pem = await keyOf(claim.keyId)
    const isValid = await Effect.runPromise(keys.verify(pem, claim.algorithm, claim.base, claim.signature))
    if (!isValid) throw new Error("a signature does not hold")
    received.push({ activity: JSON.parse(body.toString()), keyId: claim.keyId, headers: request.headers })
    response.writeHead(state.status).end()
  }
  const inbox = (request: IncomingMessage, response: ServerResponse) => {
    receive(request, response).catch((error) => response.writeHead(500).end(String(error)))
  }
  found.documents.set("/inbox", inbox)
  /** Adds an account whose own inbox records activities, too. */
  const actor: typeof found.actor = (name, more) => {
    found.documents.set(`/users/${name}/inbox`, inbox)
    return found.actor(name, more)
  }

  return {
    ...found,
    actor,
    received,
    state,
    /** Returns activities of a type since the last call with any type. */
    take: (type: string) => received.splice(0).filter(({ activity }) => activity.type === type)
  }
}, Effect.provide(NodeKeyOperations.layer))

export const keyOperations = Layer.fresh(NodeKeyOperations.layer)
