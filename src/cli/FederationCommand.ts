import { Clock, Console, Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { Environment } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { parse } from "../services/discovery/LocalUrls.ts"
import { normalizeDomain } from "../services/federation/DomainNames.ts"
import { DeliveryHosts } from "../services/federation/outbox/DeliveryHosts.ts"
import {
  countedMax,
  type HostQueue,
  listedMax,
  type PostDeliveries,
  Queues,
  type RefusingInbox,
  type WaitingDelivery
} from "../services/federation/outbox/Queues.ts"
import { traced } from "../services/runtime/Traced.ts"
import { dead, explained, services } from "./DeadActivities.ts"
import { withExamples } from "./Examples.ts"
import { counted, json, print, printList } from "./Output.ts"

const layer = Layer.mergeAll(DeliveryHosts.layer, Queues.layer).pipe(Layer.provideMerge(services))
const provided = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, layer)

const host = Argument.String("host").pipe(Argument.withDescription("Another server, as in handles: example.org"))

/** Formats a duration in the largest unit that fits. */
const duration = (millis: number): string => {
  const seconds = Math.round(Math.abs(millis) / 1_000)
  if (seconds < 120) return `${seconds} seconds`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 86_400)} days`
}

const next = (at: Date, now: number) => at.getTime() <= now ? "is due" : `retries in ${duration(at.getTime() - now)}`

const pauses = {
  operator: "paused by you: nothing is sent until `federation resume`",
  failures: "paused after seven days of failures: nothing is sent until it contacts this server"
}

const ofHost = ({ error, host, nextAt, oldestAt, pausedBy, waiting }: HostQueue, now: number) => {
  const many = waiting >= countedMax ? `${countedMax} or more` : String(waiting)
  const state = pausedBy === null ? `the next one ${next(nextAt, now)}` : pauses[pausedBy]
  const why = error === null ? "" : `; last error: ${error}`
  return `${host}: ${many} waiting, the oldest for ${duration(now - oldestAt.getTime())}; ${state}${why}`
}

const queue = Command.make(
  "queue",
  { json },
  traced("federation queue")(function*(given) {
    const now = yield* Clock.currentTimeMillis
    const queues = yield* Effect.orDie((yield* Queues).list)
    const lines = queues.map((one) => ofHost(one, now))
    yield* printList(given.json, queues, lines, "All delivery queues are empty.")
  }, provided)
).pipe(
  Command.withDescription("Shows the delivery queue of each server and its last error"),
  withExamples(["", "Shows all delivery queues"])
)

const named = Effect.fnUntraced(function*(given: string) {
  const name = normalizeDomain(given)
  return name ?? (yield* new OperatorError({ message: `${given} is not a server name` }))
})

const unknown = (name: string) => new OperatorError({ message: `Nothing was ever sent to ${name}` })

const retry = Command.make(
  "retry",
  { host },
  traced("federation retry")(function*(given) {
    const name = yield* named(given.host)
    if (!(yield* Effect.orDie((yield* DeliveryHosts).resume(name)))) return yield* unknown(name)
    const moved = yield* Effect.orDie((yield* Queues).retryNow(name))
    yield* Console.log(`Retrying ${moved} deliveries to ${name} now.`)
  }, provided)
).pipe(
  Command.withDescription("Retries all deliveries to a server now"),
  withExamples(["slow.example", "Retries now, after the server was repaired"])
)

const pause = Command.make(
  "pause",
  { host },
  traced("federation pause")(function*(given) {
    const name = yield* named(given.host)
    if (!(yield* Effect.orDie((yield* DeliveryHosts).pause(name)))) return yield* unknown(name)
    yield* Console.log(`Deliveries to ${name} are paused; queued ones are kept for four days.`)
  }, provided)
).pipe(
  Command.withDescription("Pauses deliveries to a server"),
  withExamples(["slow.example", "Keeps new deliveries until `federation resume`"])
)

const resume = Command.make(
  "resume",
  { host },
  traced("federation resume")(function*(given) {
    const name = yield* named(given.host)
    if (!(yield* Effect.orDie((yield* DeliveryHosts).resume(name)))) return yield* unknown(name)
    yield* Console.log(`Deliveries to ${name} are resumed.`)
  }, provided)
).pipe(
  Command.withDescription("Resumes deliveries to a server"),
  withExamples(["slow.example", "Resumes deliveries"])
)

const ofDelivery = ({ dueAt, error, inbox, pausedBy, tries, type }: WaitingDelivery, now: number) => {
  const state = pausedBy === null ? next(dueAt, now) : pauses[pausedBy]
  const tried = tries === 0 ? "" : `, after ${counted(tries, "try", "tries")}`
  return `  ${type} to ${inbox} ${state}${tried}${error === null ? "" : ` (${error})`}`
}

const ofRefusal = ({ goneAt, inbox, refusal }: RefusingInbox) =>
  goneAt === null
    ? `It was refused by ${inbox}: ${refusal}`
    : `Deliveries to ${inbox} are stopped: it returned 410 at ${goneAt.toISOString()}. They resume when its server contacts this one.`

/** State of a post's deliveries to an inbox; sent means that nothing is queued and no refusal is known. */
const stateOf = ({ refusing, waiting }: PostDeliveries, url: string) =>
  waiting.some(({ inbox }) => inbox === url)
    ? "queued"
    : refusing.some(({ inbox }) => inbox === url)
    ? "refused"
    : "sent"

const explain = Command.make(
  "explain",
  {
    url: Argument.String("url").pipe(Argument.withDescription(
      "URL of a local post; for a received activity its id, the id of its actor, or its number here"
    )),
    json
  },
  traced("federation explain")(function*(given) {
    const { server } = yield* Environment
    const found = parse(server, given.url)
    const post = found?.kind === "status" ? yield* Effect.orDie((yield* Queues).explain(found.id)) : undefined
    if (post === undefined) {
      const { activities, lines } = yield* explained(given.url)
      if (activities.length === 0) {
        return yield* new OperatorError({
          message: `${given.url} is not a local post or a recently received activity`
        })
      }
      return yield* print(given.json, { post: null, activities }, lines.join("\n"))
    }
    const now = yield* Clock.currentTimeMillis
    const mentioned = post.mentioned.length === 0 ? [] : [`It mentions ${post.mentioned.join(", ")}.`]
    const lines = [
      `The post is ${post.visibility}${post.deleted ? " and deleted" : ""}.`,
      `Its author has ${counted(post.followers, "follower")} on ${counted(post.followerHosts, "other server")}.`,
      ...mentioned,
      ...(post.expanding > 0 ? ["Fan-out is still running."] : []),
      post.reached.length === 0
        ? "It has no receivers on other servers."
        : `It has ${
          post.reached.length < listedMax ? counted(post.reached.length, "receiver") : `${listedMax} or more receivers`
        } on other servers:`,
      ...post.reached.map((url) => `  ${url}: ${stateOf(post, url)}`),
      ...post.refusing.map(ofRefusal),
      post.waiting.length === 0 ? "No deliveries are queued." : "Queued deliveries:",
      ...post.waiting.map((one) => ofDelivery(one, now))
    ]
    yield* print(given.json, { post, activities: [] }, lines.join("\n"))
  }, provided)
).pipe(
  Command.withDescription(
    "Shows a post's receivers, refusals and queued deliveries, or the outcome of a received activity"
  ),
  withExamples(
    ["https://example.org/@ada/110512", "Shows where a local post went"],
    ["https://example.com/users/bob", "Shows the activities of a remote account and their outcomes"]
  )
)

export const command = Command.make("federation").pipe(
  Command.withDescription("Exchange with other servers"),
  withExamples(["queue", "Shows all delivery queues"], ["dead", "Lists activities that failed"]),
  Command.withSubcommands([queue, retry, pause, resume, explain, dead])
)
