import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import type { ListedActivity } from "../services/federation/inbox/InboundOutcomes.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import * as Operator from "./Operator.ts"
import { counted, json, printList } from "./Output.ts"

/** Maximum activities in a listing. */
const listedMax = 100

/** Formats the state of an activity as one line. */
const ofActivity = ({ actor, id, outcome, receivedAt, tries, uri }: ListedActivity) => {
  const state = outcome ?? (tries === 0 ? "waiting" : `waiting, after ${counted(tries, "try", "tries")}`)
  return [String(id), receivedAt.toISOString(), actor, uri, state.split("\n")[0]].join("\t")
}

/** Returns the activities with this id, from this actor, or with this local number, and describes them in lines. */
export const explained = (name: string) =>
  Effect.map(
    Effect.flatMap(InboundActivities, (inbound) => Effect.orDie(inbound.history(name, listedMax))),
    (activities) => ({ activities, lines: activities.map(ofActivity) })
  )

export const services = InboundActivities.layer.pipe(Layer.provideMerge(Operator.layer))

const asId = (text: string) => /^[0-9]{1,18}$/.test(text) ? BigInt(text) : undefined

/** `federation dead`: activities of other servers that failed on every try. */
export const dead = Command.make(
  "dead",
  {
    retry: Flag.String("retry").pipe(
      Flag.withDescription("Id of an activity to retry"),
      Flag.optional
    ),
    outcomes: Flag.Boolean("outcomes").pipe(
      Flag.withDescription("Counts the received activities of the last week by outcome instead"),
      Flag.withDefault(false)
    ),
    json
  },
  traced("federation dead")(function*({ json, outcomes, retry }) {
    const inbound = yield* InboundActivities
    if (outcomes) {
      const ends = yield* Effect.orDie(inbound.ends(listedMax))
      const lines = ends.map(({ count, outcome }) => `${count}\t${outcome.split("\n")[0]}`)
      return yield* printList(json, ends, lines, "No activities were received.")
    }
    if (Option.isSome(retry)) {
      const id = asId(retry.value)
      const revived = id !== undefined && (yield* Effect.orDie(inbound.requeue(id)))
      if (!revived) {
        return yield* new OperatorError({ message: `Activity ${retry.value} is not among the failed activities` })
      }
      return yield* Console.log(`Activity ${retry.value} is being retried.`)
    }
    const found = yield* Effect.orDie(inbound.dead(listedMax))
    const lines = found.map(({ actor, id, reason, receivedAt, uri }) =>
      [String(id), receivedAt.toISOString(), actor, uri, reason.split("\n")[0]].join("\t")
    )
    yield* printList(json, found, lines, "There are no failed activities.")
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Lists activities that failed on every attempt, newest first, or retries one"),
  withExamples(["", "Lists failed activities"], ["--retry 110512", "Retries one of them"], [
    "--outcomes",
    "Counts received activities by outcome"
  ])
)
