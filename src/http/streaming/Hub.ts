import { Clock, Context, Effect, Layer, Metric, PubSub, Schedule, type Scope, Stream } from "effect"
import { AccountId } from "../../services/database/Ids.ts"
import { Broadcast, type BroadcastMessage } from "../../services/events/Broadcast.ts"
import { BlockedAddresses } from "../../services/moderation/BlockedAddresses.ts"
import { LiveTokens } from "../../services/oauth/LiveTokens.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { OwnedLists } from "../../services/social/OwnedLists.ts"
import { type Channel, refused, type StreamRefused } from "./Channels.ts"
import * as EventRouting from "./EventRouting.ts"
import { type Connection, type EndReason, Registry } from "./Registry.ts"

/** Maximum messages that are prepared concurrently; they are sent in order. */
const preparationsMax = 16
/** Timeout of preparing a message: streams keep no history, so a late message is dropped. */
const preparationTimeout = "5 seconds"
/** Events sent before other work of the process runs. */
const sendingsPerTurnMax = 500
/**
 * Interval at which tokens of open streams are checked: the broadcast of a revocation may be lost (security row 70).
 */
export const revalidationPeriod = "10 seconds"

/** Operations of an open connection on the hub. */
export interface ConnectionHandle {
  /**
   * Fails for another account's list, or if the connection has too many channels. Subscribing to a channel again has no
   * effect.
   */
  readonly subscribe: (channel: Channel) => Effect.Effect<void, StreamRefused>
  readonly unsubscribe: (topic: string) => Effect.Effect<void>
}

const open = Metric.gauge("murmuration_streams_open", { description: "Open streams on this node" })
const events = Metric.counter("murmuration_stream_events_total", {
  description: "Events sent to streams",
  incremental: true
})

/**
 * The streams of this node. One subscription to the broadcasts serves all; messages without local listeners cost
 * nothing. Events may be lost: the node stops, the broadcast bus is down, the client is slow. Clients then catch up by
 * REST. No event reaches an account that may not see it at that moment. A stream ends when its token does, at once or
 * within `revalidationPeriod` if the broadcast was lost.
 */
export class Hub extends Context.Service<Hub, {
  /** Registers a connection until the scope closes; fails if the limits are reached or its token is invalid. */
  readonly connect: (connection: Connection) => Effect.Effect<ConnectionHandle, StreamRefused, Scope.Scope>
  /** Ends all streams and accepts no more. */
  readonly stop: Effect.Effect<void>
}>()("murmuration/http/streaming/Hub") {
  static readonly layer = Layer.effect(
    Hub,
    Effect.gen(function*() {
      const addresses = yield* BlockedAddresses
      const broadcast = yield* Broadcast
      const liveTokens = yield* LiveTokens
      const lists = yield* OwnedLists
      const registry = new Registry()
      const { hasListeners, deliveryOf } = yield* EventRouting.make(registry)

      const deliver = Effect.fnUntraced(function*(routedEvents: EventRouting.RoutedEvents) {
        let sent = 0
        for (const { channel, connection, event } of routedEvents) {
          connection.send(event, channel)
          if (++sent % sendingsPerTurnMax === 0) yield* Effect.yieldNow
        }
        if (sent > 0) yield* Metric.update(events, sent)
      })
      const prepare = (message: BroadcastMessage) =>
        deliveryOf(message).pipe(
          Effect.timeout(preparationTimeout),
          Effect.catchCause((cause) =>
            Effect.as(Effect.logWarning(`streams missed a ${message._tag} event`, cause), EventRouting.nothing)
          )
        )
      yield* Stream.fromSubscription(yield* broadcast.subscribe).pipe(
        Stream.filter(hasListeners),
        Stream.mapEffect(prepare, { concurrency: preparationsMax }),
        Stream.runForEach(deliver),
        Effect.forkScoped
      )

      const end = (connections: Iterable<Connection>, reason: EndReason = "revoked") =>
        Effect.sync(() => {
          for (const connection of connections) connection.end(reason)
        })
      // Separate from the events, which may wait for the database while a revocation must not.
      yield* PubSub.take(yield* broadcast.subscribe).pipe(
        Effect.flatMap((message) => {
          if (message._tag !== "Revoked") return Effect.void
          const tokens = new Set<bigint>(message.tokenIds)
          return end([
            ...registry.connections().filter(({ tokenId }) => tokens.has(tokenId)),
            ...message.accountIds.flatMap((id) => registry.ofAccount(AccountId.make(id)))
          ])
        }),
        Effect.forever,
        Effect.forkScoped
      )

      const clock = yield* Clock.Clock
      const isBlocked = ({ exactAddress }: Connection) =>
        !addresses.isEmpty() && addresses.find(exactAddress, clock.currentTimeMillisUnsafe()) === "no_access"
      yield* addresses.changed(() => {
        if (addresses.isEmpty()) return
        for (const connection of registry.connections()) if (isBlocked(connection)) connection.end("blocked")
      })

      const revalidate = Effect.gen(function*() {
        const connections = registry.connections()
        const live = yield* liveTokens.filterLive([...new Set(connections.map(({ tokenId }) => tokenId))])
        yield* end(connections.filter(({ tokenId }) => !live.has(tokenId)))
      }).pipe(
        Effect.withSpan("Hub.revalidate"),
        Effect.catchCause((cause) => Effect.logWarning("the tokens of open streams could not be checked", cause))
      )
      yield* Effect.forkScoped(Effect.schedule(revalidate, Schedule.spaced(revalidationPeriod)))

      const measure = Effect.suspend(() => Metric.update(open, registry.size))
      yield* measure
      const connect = traced("Hub.connect")(function*(connection: Connection) {
        yield* Effect.acquireRelease(
          Effect.suspend(() => registry.add(connection) ? measure : refused("busy")),
          () => Effect.andThen(Effect.sync(() => registry.remove(connection)), measure)
        )
        // Checked after the registration: a revocation in this very moment is either read here or received as a
        // broadcast.
        if (isBlocked(connection)) return yield* refused("blocked")
        const live = yield* liveTokens.filterLive([connection.tokenId])
        if (!live.has(connection.tokenId)) return yield* refused("badToken")
        return {
          subscribe: (channel: Channel) =>
            Effect.andThen(
              channel.list === undefined
                ? Effect.void
                : Effect.mapError(lists.find(connection.accountId, channel.list), () => refused("foreignList")),
              Effect.suspend(() => registry.subscribe(connection, channel) ? Effect.void : refused("tooMany"))
            ),
          unsubscribe: (topic: string) => Effect.sync(() => registry.unsubscribe(connection, topic))
        }
      })
      const stop = Effect.suspend(() => {
        registry.close()
        return end(registry.connections(), "stopping")
      })
      return Hub.of({ connect, stop })
    })
  )

  /**
   * Ends all streams when the server stops. Belongs on top of the HTTP server, so that it runs first: the server would
   * otherwise wait for the streams until its timeout.
   */
  static readonly layerStop = Layer.effectDiscard(
    Effect.flatMap(Hub, ({ stop }) => Effect.addFinalizer(() => stop))
  )
}
