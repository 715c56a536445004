import { Clock, Context, Effect, Fiber, Layer, Metric, Option, Semaphore } from "effect"
import { Sharding } from "effect/cluster"
import { InboundActivities } from "../federation/inbox/InboundActivities.ts"
import { Deliveries } from "../federation/outbox/Deliveries.ts"
import { Instance } from "../instance/Instance.ts"
import { AgendaEntries } from "../intents/AgendaEntries.ts"
import { Backlogs } from "./Backlogs.ts"
import * as PostgresFigures from "./PostgresFigures.ts"

const actors = Metric.gauge("murmuration_actors_awake", { description: "Actors in memory of this node" })
const waiting = Metric.gauge("murmuration_work_waiting", {
  description: "Due items of durable work that wait, by kind; the same on every node"
})
const oldest = Metric.gauge("murmuration_work_oldest_seconds", {
  description: "Age of the oldest waiting item, by kind; the same on every node"
})
const failed = Metric.gauge("murmuration_work_failed", {
  description: "Items that failed on every attempt and await an operator, by kind; the same on every node"
})
const users = Metric.gauge("murmuration_users", {
  description: "Confirmed local users, by activity: all, seen within 30 days (`month`) or 180 days (`half_year`)"
})
const posts = Metric.gauge("murmuration_posts", { description: "Posts of local users" })
const servers = Metric.gauge("murmuration_known_servers", { description: "Other servers with a known account" })
const postgresUp = Metric.gauge("murmuration_postgres_up", {
  description: "1 if Postgres responded to the last scrape within two seconds, otherwise 0"
})
/** Minimum time between two readings, in milliseconds: several collectors cost as much as one. */
const readMillisMin = 5_000
/** Maximum time that a scrape waits for Postgres, and then for people to be counted; a later count is in the next. */
const readMax = "2 seconds"
const countMax = "1 second"

/** Gauges that are read when a collector asks: people, waiting work, and Postgres. */
export class ServerFigures extends Context.Service<ServerFigures, {
  /** Updates the gauges. Never fails: without Postgres the others keep their values, and `postgres_up` is 0. */
  readonly update: Effect.Effect<void>
}>()("murmuration/services/metrics/ServerFigures") {
  /** No gauges, for a router without a database. */
  static readonly layerNone = Layer.succeed(ServerFigures, { update: Effect.void })

  static readonly layer = Layer.effect(
    ServerFigures,
    Effect.gen(function*() {
      const agenda = yield* AgendaEntries
      const backlogs = yield* Backlogs
      const deliveries = yield* Deliveries
      const inbound = yield* InboundActivities
      const instance = yield* Instance
      const sharding = yield* Sharding.Sharding
      const postgres = yield* PostgresFigures.make

      const setWork = Effect.fnUntraced(function*(kind: string, count: number, oldestMillis: number) {
        yield* Metric.update(Metric.withAttributes(waiting, { kind }), count)
        yield* Metric.update(Metric.withAttributes(oldest, { kind }), Math.max(0, oldestMillis) / 1_000)
      })

      const work = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        for (const { kind, oldestAt, waiting: count } of yield* backlogs.list) {
          yield* setWork(kind, count, oldestAt === null ? 0 : now - oldestAt.getTime())
        }
        const outgoing = yield* deliveries.backlog
        yield* setWork("deliveries", outgoing.count, outgoing.oldestMillis)
        const { dead } = yield* inbound.backlog
        yield* Metric.update(Metric.withAttributes(failed, { kind: "inbound" }), dead)
        yield* Metric.update(Metric.withAttributes(failed, { kind: "agenda" }), yield* agenda.failed)
      })

      const people = Effect.gen(function*() {
        const { activeHalfYear, activeMonth, domains, statuses, users: all } = yield* instance.usage
        for (const [active, count] of [["all", all], ["month", activeMonth], ["half_year", activeHalfYear]] as const) {
          yield* Metric.update(Metric.withAttributes(users, { active }), count)
        }
        yield* Metric.update(posts, statuses)
        yield* Metric.update(servers, domains)
      })

      /** Returns false if Postgres did not respond in time. */
      const inTime = <E>(part: Effect.Effect<void, E>) =>
        part.pipe(
          Effect.timeout(readMax),
          Effect.as(true),
          Effect.catchCause((cause) => Effect.as(Effect.logDebug("a scrape could not read Postgres", cause), false))
        )
      /** Counts people in the background, once at a time: it reads many rows, and would say nothing about Postgres. */
      const counting = people.pipe(
        Effect.catchCause((cause) => Effect.logDebug("a scrape could not count people", cause)),
        Semaphore.makeUnsafe(1).withPermitsIfAvailable(1),
        Effect.forkIn(yield* Effect.scope)
      )

      const read = Effect.gen(function*() {
        const active = yield* Effect.option(sharding.activeEntityCount)
        if (Option.isSome(active)) yield* Metric.update(actors, active.value)
        const counted = yield* counting
        const up = yield* inTime(postgres)
        yield* Metric.update(postgresUp, up ? 1 : 0)
        if (up) yield* inTime(work)
        yield* Effect.timeoutOption(Fiber.await(counted), countMax)
      })
      return ServerFigures.of({ update: yield* Effect.cachedWithTTL(read, readMillisMin) })
    })
  )
}
