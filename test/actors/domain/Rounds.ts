import { NodeCrypto } from "@effect/platform-node"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DeliveryRound from "../../../src/actors/domain/DeliveryRound.ts"
import * as HostState from "../../../src/actors/domain/HostState.ts"
import * as NodeKeyOperations from "../../../src/layers/NodeKeyOperations.ts"
import { FollowerDigests } from "../../../src/services/federation/FollowerDigests.ts"
import { Deliveries } from "../../../src/services/federation/outbox/Deliveries.ts"
import { DeliveryHosts } from "../../../src/services/federation/outbox/DeliveryHosts.ts"
import { Outbox } from "../../../src/services/federation/outbox/Outbox.ts"
import { Signatures } from "../../../src/services/federation/signatures/Signatures.ts"
import { SigningKeys } from "../../../src/services/federation/SigningKeys.ts"
import { Outbound, type Reply } from "../../../src/services/outbound/Outbound.ts"
import { Unreachable } from "../../../src/services/outbound/OutboundError.ts"
import { config } from "../../support/Actors.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Response of a host to a delivery: a status, a whole response, or none. */
export type Says = number | Partial<Reply> | "unreachable"

export interface Arrived {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly url: string
  readonly uri: string
  readonly standard: boolean
}

/** Simulated network: the test decides the responses, and reads the arrivals. */
export class Outside extends Context.Service<Outside, {
  readonly arrived: Array<Arrived>
  /** Response to a delivery, by its address and the number of earlier arrivals. */
  says: (arrived: Arrived, before: number) => Says | Effect.Effect<Says>
}>()("murmuration/test/Outside") {
  static readonly layer = Layer.sync(Outside, () => ({ arrived: [], says: () => 202 }))
}

const outbound = Layer.effect(
  Outbound,
  Effect.map(Outside, (outside) => {
    const nobody = ({ url }: { readonly url: string }) => Effect.fail(new Unreachable({ url, reason: "name" }))
    return Outbound.of({
      json: nobody,
      text: nobody,
      stream: nobody,
      post: Effect.fnUntraced(function*({ body, sign, url }) {
        const { id } = JSON.parse(new TextDecoder().decode(body))
        const standard = sign !== undefined && "signature-input" in (yield* sign(new URL(url)))
        const arrived = { at: yield* Clock.currentTimeMillis, url, uri: id, standard }
        const before = outside.arrived.push(arrived) - 1
        const reply = outside.says(arrived, before)
        const says = Effect.isEffect(reply) ? yield* reply : reply
        if (says === "unreachable") return yield* new Unreachable({ url, reason: "connect" })
        return {
          status: 202,
          retryAfterSeconds: undefined,
          text: "",
          ...(typeof says === "number" ? { status: says } : says)
        }
      })
    })
  })
)

/** Services of deliveries, on their own database and a simulated network. */
export const layerRounds = Layer.mergeAll(
  Outbox.layer,
  Deliveries.layer,
  FollowerDigests.layer,
  DeliveryHosts.layer,
  SigningKeys.layer,
  Signatures.layer
)
  .pipe(
    Layer.provideMerge(outbound),
    Layer.provideMerge(Outside.layer),
    Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, NodeKeyOperations.layer, NodeCrypto.layer)),
    Layer.provideMerge(config)
  )

let senderCount = 0n

/** Inserts a local account that sends. */
export const sender = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [id, at] = [++senderCount, new Date(0)]
  yield* sql`INSERT INTO accounts (id, username, created_at, updated_at) VALUES (${id}, ${`sender${id}`}, ${at}, ${at})`
  return id
})

/** Inserts a remote account; its inbox is at `path`, or at a unique path. */
export const receiver = Effect.fnUntraced(function*(host: string, path?: string) {
  const sql = yield* SqlClient.SqlClient
  const [id, at] = [++senderCount, new Date(0)]
  const uri = `https://${host}/users/${id}`
  yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
    VALUES (${id}, ${`receiver${id}`}, ${host}, ${uri}, ${at}, ${at})`
  yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, shared_inbox_url, fetched_at)
    VALUES (${id}, 'Person', ${
    path === undefined ? `${uri}/inbox` : `https://${host}${path}`
  }, ${`https://${host}/inbox`}, ${at})`
  return id
})

/** Enqueues an activity with this id for an account. */
export const send = (
  senderId: bigint,
  to: bigint,
  uri: string,
  more: { readonly about?: bigint; readonly type?: string; readonly low?: boolean } = {}
) =>
  Effect.flatMap(Outbox, (outbox) =>
    outbox.toAccounts({
      senderId,
      about: more.about ?? ++senderCount,
      activity: { type: more.type ?? "Like", uri, document: { id: uri } },
      ...(more.low === undefined ? {} : { low: more.low })
    }, [to]))

/** Makes an actor's rounds for a host: `round` runs one, `drain` repeats them until no work is due. */
export const host = Effect.fnUntraced(function*(name: string) {
  const round = yield* DeliveryRound.make
  const state = HostState.begin(name)
  return { line: state, round: round(state), drain: Effect.repeat(round(state), { while: (more) => more }) }
})

/** Returns the pending activities: ids, attempts and seconds until the next attempt. */
export const waiting = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const rows = yield* sql<{ uri: string; tries: number; dueAt: Date; error: string | null }>`
    SELECT a.uri, d.tries, d.due_at, d.error FROM deliveries d JOIN outgoing_activities a ON a.id = d.activity_id
    ORDER BY a.id, d.inbox_id`
  return rows.map(({ dueAt, error, tries, uri }) => ({ uri, tries, error, seconds: (dueAt.getTime() - now) / 1_000 }))
})
