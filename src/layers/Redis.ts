import { Context, Effect, Layer, Metric, Redacted, Schedule, Schema, type Scope } from "effect"
import type { Redis as Client, RedisOptions } from "ioredis"
import { traced } from "../services/runtime/Traced.ts"
import { OperatorError } from "./OperatorError.ts"

/** Redis did not execute a command: it is down, too slow, or refused it. */
class RedisFailed extends Schema.TaggedError<RedisFailed>()("RedisFailed", { cause: Schema.Defect() }) {}

/** Command timeout in milliseconds; a stopped Redis must not hold a request for longer. */
const commandTimeout = 500
/** Interval of the pings that check the subscription, and of those after a command timed out. */
const heartbeatPeriod = "1 second"
const connectTimeout = 2000
const reconnectDelayMax = 1000

const options = {
  lazyConnect: true,
  connectTimeout,
  commandTimeout,
  keepAlive: 10_000,
  autoResubscribe: false,
  // While Redis is down commands fail at once instead of queueing; callers have a fallback.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt: number) => Math.min(attempt * 100, reconnectDelayMax)
} satisfies RedisOptions

const up = Metric.gauge("murmuration_redis_up", {
  description: "1 while a connection to Redis is open, by its purpose"
})

/** Two connections to Redis, which reconnect by themselves: one for pipelined commands, one for subscriptions. */
export class Redis extends Context.Service<Redis, {
  readonly use: <A>(f: (client: Client) => Promise<A>) => Effect.Effect<A, RedisFailed>
  /** Calls `onMessage` for each message on `channel` until the scope closes; messages are lost while Redis is down. */
  readonly subscribe: (
    channel: string,
    onMessage: (message: string) => void
  ) => Effect.Effect<void, never, Scope.Scope>
  /** True while published messages arrive. */
  readonly subscribed: Effect.Effect<boolean>
}>()("murmuration/layers/Redis") {
  static readonly layer = (url: Redacted.Redacted<string>): Layer.Layer<Redis, OperatorError> =>
    Layer.effect(Redis, make(url))
}

const make = traced("Redis.make")(function*(url: Redacted.Redacted<string>) {
  const commands = yield* open(url, "commands")
  const subscriber = yield* open(url, "subscriptions")
  const channels = new Map<string, Set<(message: string) => void>>()
  const attempt = <A>(f: () => Promise<A>) =>
    Effect.tryPromise({ try: f, catch: (cause) => new RedisFailed({ cause }) })
  // Also runs after a reconnect; it makes up for a channel that could not be subscribed while Redis was down.
  subscriber.on("ready", () => {
    if (channels.size > 0) subscriber.subscribe(...channels.keys()).catch(ignore)
  })
  // A frozen Redis keeps its connections, so it is pinged. Replies come in order, so a pong means that all channels are
  // subscribed.
  let isSubscribed = false
  subscriber.on("close", () => isSubscribed = false)
  const listen = Effect.matchEffect(attempt(() => subscriber.ping()), {
    onFailure: () => Effect.sync(() => isSubscribed = false),
    onSuccess: () => Effect.sync(() => isSubscribed = true)
  })
  yield* Effect.forkScoped(Effect.repeat(listen, Schedule.spaced(heartbeatPeriod)))
  subscriber.on("message", (channel, message) => channels.get(channel)?.forEach((listener) => listener(message)))

  // After a timeout no more commands are sent until Redis returns a ping, so that not every request waits.
  let silent = false
  const use = Effect.fnUntraced(function*<A>(f: (client: Client) => Promise<A>) {
    if (silent) return yield* new RedisFailed({ cause: "no response in time" })
    return yield* Effect.tapError(
      attempt(() => f(commands)),
      ({ cause }) =>
        Effect.sync(() => {
          if (isTimeout(cause)) silent = true
        })
    )
  })
  const ask = Effect.suspend(() =>
    silent ? Effect.andThen(attempt(() => commands.ping()), Effect.sync(() => silent = false)) : Effect.void
  )
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(ask), Schedule.spaced(heartbeatPeriod)))

  return Redis.of({
    use,
    subscribe: traced("Redis.subscribe")(function*(channel, onMessage) {
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners)
      yield* Effect.acquireRelease(
        Effect.sync(() => listeners.add(onMessage)),
        () => Effect.sync(() => listeners.delete(onMessage))
      )
      yield* Effect.ignore(attempt(() => subscriber.subscribe(channel)))
    }),
    subscribed: Effect.sync(() => isSubscribed)
  })
})

const ignore = () => undefined
const isTimeout = (cause: unknown) => cause instanceof Error && cause.message === "Command timed out"

/** Opens a client connection that closes with the scope. */
const open = traced("Redis.open")(function*(url: Redacted.Redacted<string>, purpose: string) {
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const client = yield* Effect.acquireRelease(
    // Loaded here: a single server does not need it.
    Effect.map(Effect.promise(() => import("ioredis")), ({ Redis }) => new Redis(Redacted.value(url), options)),
    (client) => Effect.sync(() => client.disconnect())
  )
  const tell = (value: 0 | 1) => log(Metric.update(Metric.withAttributes(up, { connection: purpose }), value))
  let away = false
  let reason = "no response"
  // An 'error' event without a listener would end the process.
  client.on("error", (error) => {
    reason = error.message
  })
  client.on("reconnecting", () => {
    tell(0)
    if (!away) log(Effect.logWarning(`Redis is down (${purpose}), reconnecting`))
    away = true
  })
  client.on("ready", () => {
    tell(1)
    if (away) log(Effect.logInfo(`Redis is back (${purpose})`))
    away = false
  })
  yield* Effect.tryPromise({
    try: () => client.connect(),
    catch: () => new OperatorError({ message: `Redis (REDIS_URL) cannot be used: ${reason}`, unreachable: true })
  })
  return client
})
