import { Effect, Layer, Option, PubSub, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Broadcast, BroadcastMessage, makeHub } from "../services/events/Broadcast.ts"
import { traced } from "../services/runtime/Traced.ts"
import { PostgresChannel } from "./PostgresChannel.ts"
import { Redis } from "./Redis.ts"

const channel = "murmuration:broadcast"

/** A message between nodes, with its sender: a node handles its own messages at once, and ignores them on Redis. */
const Envelope = Schema.fromJsonString(
  Schema.Struct({ from: Schema.String, message: Schema.toCodecJson(BroadcastMessage) })
)
const encode = Schema.encodeEffect(Envelope)
const decode = Schema.decodeUnknownEffect(Envelope)

/**
 * The broadcast bus between nodes. A process handles its own messages directly. Those of other nodes come through
 * Redis, if it is configured, and those of the command line through Postgres.
 */
export const layer = Layer.effect(
  Broadcast,
  Effect.gen(function*() {
    const postgres = yield* PostgresChannel
    const redis = Option.getOrUndefined(yield* Effect.serviceOption(Redis))
    const self = yield* (yield* SecureRandom.SecureRandom).uuidV4()
    const { guarded, receive, onMessage, subscribe } = yield* makeHub

    const signals = yield* postgres.subscribe
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(
      PubSub.take(signals),
      (signal) => signal._tag === "Wake" || signal._tag === "Restart" ? Effect.void : receive(signal)
    )))

    const received = (text: string) =>
      decode(text).pipe(
        Effect.flatMap(({ from, message }) => from === self ? Effect.void : receive(message)),
        Effect.catch((error) => Effect.logWarning(`Undecodable message on channel ${channel}`, error.message))
      )
    if (redis !== undefined) {
      const run = Effect.runForkWith(yield* Effect.context<never>())
      yield* redis.subscribe(channel, (text) => run(received(text)))
    }
    const send = (client: Redis["Service"], message: BroadcastMessage) =>
      encode({ from: self, message }).pipe(
        Effect.orDie,
        Effect.flatMap((text) => client.use((connection) => connection.publish(channel, text))),
        Effect.ignore
      )

    return Broadcast.of({
      publish: guarded(
        traced("Broadcast.publish")(function*(message: BroadcastMessage) {
          yield* receive(message)
          if (redis !== undefined) yield* send(redis, message)
        })
      ),
      subscribe,
      onMessage,
      connected: redis === undefined
        ? postgres.listening
        : Effect.zipWith(postgres.listening, redis.subscribed, (a, b) => a && b)
    })
  })
)
