import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, PubSub, Queue, Ref, Schedule, Schema, type Scope } from "effect"
import { AccountId, IdFromString } from "../services/database/Ids.ts"
import { BroadcastMessage } from "../services/events/Broadcast.ts"
import { traced } from "../services/runtime/Traced.ts"
import { HeldSessions } from "./Database.ts"

/** Postgres' LISTEN/NOTIFY channel, on which the command line reaches running servers. */
const channelName = "murmuration"

/** Maximum queued signals of a subscriber; they come from people at a command line. */
const backlogMax = 1024
const reconnect = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])

/**
 * Signal from the command line to running servers: a message for every node, rows that wait for an account's actor, or
 * a restart.
 */
const Signal = Schema.Union([
  BroadcastMessage,
  Schema.TaggedStruct("Wake", { accountId: IdFromString.pipe(Schema.decodeTo(AccountId)) }),
  Schema.TaggedStruct("Restart", {})
])
type Signal = typeof Signal.Type

const Json = Schema.fromJsonString(Schema.toCodecJson(Signal))
const encode = Schema.encodeEffect(Json)
const decode = Schema.decodeUnknownEffect(Json)

/** Sends a signal to every server on this database; inside a transaction, when it commits. */
export const notify = traced("PostgresChannel.notify")(function*(signal: Signal) {
  const pg = yield* PgClient.PgClient
  yield* pg.notify(channelName, yield* Effect.orDie(encode(signal)))
})

/** Signals of the channel, which every node receives; listens again after a lost connection. */
export class PostgresChannel extends Context.Service<PostgresChannel, {
  readonly subscribe: Effect.Effect<PubSub.Subscription<Signal>, never, Scope.Scope>
  /** False while signals can be missed. */
  readonly listening: Effect.Effect<boolean>
}>()("murmuration/layers/PostgresChannel") {
  static readonly layer = Layer.effect(
    PostgresChannel,
    Effect.gen(function*() {
      const pg = yield* HeldSessions
      const hub = yield* PubSub.sliding<Signal>(backlogMax)
      const listening = yield* Ref.make(false)
      const receive = (payload: string) =>
        decode(payload).pipe(
          Effect.flatMap((signal) => PubSub.publish(hub, signal)),
          Effect.catch((error) => Effect.logWarning(`Undecodable message on channel ${channelName}`, error.message))
        )
      const listen = Effect.scoped(Effect.gen(function*() {
        const queue = yield* pg.listen(channelName)
        yield* Ref.set(listening, true)
        return yield* Effect.forever(Effect.flatMap(Queue.take(queue), ({ payload }) => receive(payload)))
      })).pipe(Effect.ensuring(Ref.set(listening, false)))
      yield* Effect.forkScoped(listen.pipe(
        Effect.tapError((error) => Effect.logWarning(`Lost LISTEN on channel ${channelName}: ${error.message}`)),
        Effect.retry(reconnect)
      ))
      return PostgresChannel.of({ subscribe: PubSub.subscribe(hub), listening: Ref.get(listening) })
    })
  )
}
