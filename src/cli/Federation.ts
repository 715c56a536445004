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
  Queues,
  type RefusingInbox,
  type WaitingDelivery
} from "../services/federation/outbox/Queues.ts"
import { traced } from "../services/Traced.ts"
import { dead, explained, services } from "./DeadActivities.ts"

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

const next = (at: Date, now: number) => at.getTime() <= now ? "is due" : `is tried in ${duration(at.getTime() - now)}`

const pauses = {
  operator: "paused by you: nothing is sent until `federation resume`",
  failures: "paused, for it failed on seven days: nothing is sent until it speaks to us"
}

const ofHost = ({ error, host, nextAt, oldestAt, pausedBy, waiting }: HostQueue, now: number) => {
  const many = waiting >= countedMax ? `${countedMax} or more` : String(waiting)
  const state = pausedBy === null ? `the next one ${next(nextAt, now)}` : pauses[pausedBy]
  const why = error === null ? "" : `; it said last: ${error}`
  return `${host}: ${many} wait, the oldest for ${duration(now - oldestAt.getTime())}; ${state}${why}`
}

const queue = Command.make(
  "queue",
  {},
  traced("federation queue")(function*() {
    const now = yield* Clock.currentTimeMillis
    const queues = yield* Effect.orDie((yield* Queues).list)
    yield* Console.log(
      queues.length === 0 ? "Nothing waits for any server." : queues.map((one) => ofHost(one, now)).join("\n")
    )
  }, provided)
).pipe(Command.withDescription("Says what waits for which server, and why"))

const named = Effect.fnUntraced(function*(given: string) {
  const name = normalizeDomain(given)
  return name ?? (yield* new OperatorError({ message: `${given} is no name of a server` }))
})

const unknown = (name: string) => new OperatorError({ message: `Nothing was ever sent to ${name}` })

const retry = Command.make(
  "retry",
  { host },
  traced("federation retry")(function*(given) {
    const name = yield* named(given.host)
    if (!(yield* Effect.orDie((yield* DeliveryHosts).resume(name)))) return yield* unknown(name)
    const moved = yield* Effect.orDie((yield* Queues).hurry(name))
    yield* Console.log(`${moved} deliveries to ${name} are tried now.`)
  }, provided)
).pipe(Command.withDescription("Tries everything that waits for a server now"))

const pause = Command.make(
  "pause",
  { host },
  traced("federation pause")(function*(given) {
    const name = yield* named(given.host)
    if (!(yield* Effect.orDie((yield* DeliveryHosts).pause(name)))) return yield* unknown(name)
    yield* Console.log(`Nothing more is sent to ${name}; what waits is kept for four days.`)
  }, provided)
).pipe(Command.withDescription("Sends nothing to a server for now"))

const resume = Command.make(
  "resume",
  { host },
  traced("federation resume")(function*(given) {
    const name = yield* named(given.host)
    if (!(yield* Effect.orDie((yield* DeliveryHosts).resume(name)))) return yield* unknown(name)
    yield* Console.log(`What waits for ${name} is sent again.`)
  }, provided)
).pipe(Command.withDescription("Ends a pause"))

const ofDelivery = ({ dueAt, error, inbox, pausedBy, tries, type }: WaitingDelivery, now: number) => {
  const state = pausedBy === null ? next(dueAt, now) : pauses[pausedBy]
  const tried = tries === 0 ? "" : `, after ${tries} ${tries === 1 ? "try" : "tries"}`
  return `  ${type} to ${inbox} ${state}${tried}${error === null ? "" : ` (${error})`}`
}

const ofRefusal = ({ goneAt, inbox, refusal }: RefusingInbox) =>
  goneAt === null
    ? `It was refused by ${inbox}: ${refusal}`
    : `Nothing is sent to ${inbox}, which said at ${goneAt.toISOString()} that it is gone (410), until its server speaks to us.`

const explain = Command.make(
  "explain",
  {
    url: Argument.String("url").pipe(Argument.withDescription(
      "Address of a post of this server; or of what came from another, the id of the activity, of its actor, or our number"
    ))
  },
  traced("federation explain")(function*(given) {
    const { server } = yield* Environment
    const found = parse(server, given.url)
    const post = found?.kind === "status" ? yield* Effect.orDie((yield* Queues).explain(found.id)) : undefined
    const came = post === undefined ? yield* explained(given.url) : undefined
    if (came !== undefined) return yield* Console.log(came)
    if (post === undefined) {
      return yield* new OperatorError({
        message: `${given.url} is no post of this server, and nothing that came in lately`
      })
    }
    const now = yield* Clock.currentTimeMillis
    const mentioned = post.mentioned.length === 0 ? [] : [`It mentions ${post.mentioned.join(", ")}.`]
    const lines = [
      `The post is ${post.visibility}${post.deleted ? " and deleted" : ""}.`,
      `Its author has ${post.followers} followers on ${post.followerHosts} other servers.`,
      ...mentioned,
      ...(post.expanding > 0 ? ["It is still being told."] : []),
      post.reached.length === 0 ? "It was sent to no other server." : `It was sent to ${post.reached.length} inboxes:`,
      ...post.reached.map((url) => `  ${url}`),
      ...post.refusing.map(ofRefusal),
      post.waiting.length === 0 ? "Nothing about it waits." : "What waits about it:",
      ...post.waiting.map((one) => ofDelivery(one, now))
    ]
    yield* Console.log(lines.join("\n"))
  }, provided)
).pipe(
  Command.withDescription(
    "Says to whom a post was sent, who refused it and what still waits, or what became of what came in"
  )
)

export const command = Command.make("federation").pipe(
  Command.withDescription("What goes to other servers"),
  Command.withSubcommands([queue, retry, pause, resume, explain, dead])
)
