import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { Environment } from "./layers/Environment.ts"
import { Handover } from "./layers/Handover.ts"
import { inWords, teardown } from "./layers/OperatorError.ts"
import * as Server from "./layers/Server.ts"
import * as StartMemory from "./layers/StartMemory.ts"
import { startMessage } from "./layers/StartMessage.ts"

const left = Effect.flatMap(Handover, ({ left }) => left)

/** Starts a node and says where it is and what to do next. Runs until it is told to stop or another one took over. */
Layer.build(Server.layer).pipe(
  Effect.flatMap((services) => Effect.provide(Effect.all([startMessage, StartMemory.giveBack, left]), services)),
  Effect.scoped,
  Effect.provide(Environment.layer),
  inWords,
  NodeRuntime.runMain({ teardown })
)
