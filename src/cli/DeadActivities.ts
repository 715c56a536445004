import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { InboundActivities } from "../services/federation/inbox/InboundActivities.ts"
import { traced } from "../services/Traced.ts"
import * as Operator from "./Operator.ts"

/** Activities that one listing shows. */
const listedMax = 100

const services = InboundActivities.layer.pipe(Layer.provideMerge(Operator.layer))

const asId = (text: string) => /^[0-9]{1,18}$/.test(text) ? BigInt(text) : undefined

/** `federation dead`: what other servers sent and no try could work off. */
export const dead = Command.make(
  "dead",
  {
    retry: Flag.String("retry").pipe(
      Flag.withDescription("Id of an activity that is to be tried again"),
      Flag.optional
    )
  },
  traced("federation dead")(function*({ retry }) {
    const inbound = yield* InboundActivities
    if (Option.isSome(retry)) {
      const id = asId(retry.value)
      const revived = id !== undefined && (yield* Effect.orDie(inbound.revive(id)))
      if (!revived) return yield* new OperatorError({ message: `No activity ${retry.value} was set aside` })
      return yield* Console.log(`Activity ${retry.value} is tried again.`)
    }
    const found = yield* Effect.orDie(inbound.dead(listedMax))
    const lines = found.map(({ actor, id, reason, receivedAt, uri }) =>
      [String(id), receivedAt.toISOString(), actor, uri, reason.split("\n")[0]].join("\t")
    )
    yield* Console.log(lines.length === 0 ? "Nothing was set aside." : lines.join("\n"))
  }, (effect) => Effect.provide(effect, services))
).pipe(Command.withDescription("Lists activities that failed at every try, the newest first, or has one tried again"))
