import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { Environment } from "./layers/Environment.ts"
import { Handover } from "./layers/Handover.ts"
import { printOperatorError, teardown } from "./layers/OperatorError.ts"
import * as Server from "./layers/Server.ts"
import * as ServiceManager from "./layers/ServiceManager.ts"
import { ShardReleases } from "./layers/ShardReleases.ts"
import * as StartMemory from "./layers/StartMemory.ts"
import { startMessage } from "./layers/StartMessage.ts"

const left = Effect.flatMap(Handover, ({ left }) => left)

/** Time that a node which cannot release a shard gets for its shutdown before the process exits. */
const endTimeMax = "10 seconds"
const exit = (words: string) => Effect.andThen(Console.error(words), Effect.sync(() => process.exit(1)))
const stuck = Effect.flatMap(ShardReleases, ({ stuck }) => stuck).pipe(
  Effect.tapError(({ message }) => Effect.forkDetach(Effect.delay(exit(message), endTimeMax)))
)

/** Tells systemd that the server is ready; and, unless a successor runs on, when it stops. */
const announce = Effect.gen(function*() {
  const { leaving } = yield* Handover
  yield* ServiceManager.announceReady
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(leaving, (succeeded) => succeeded ? Effect.void : ServiceManager.announceStop)
  )
})

/**
 * Starts a node and prints its address and the next steps. Runs until the node is told to stop, a successor takes over,
 * or a shard cannot be released.
 */
Layer.build(Server.layer).pipe(
  Effect.flatMap((services) =>
    Effect.provide(
      Effect.all([announce, startMessage, StartMemory.shrinkHeap, Effect.raceFirst(left, stuck)]),
      services
    )
  ),
  Effect.scoped,
  Effect.provide(Environment.layer),
  printOperatorError,
  NodeRuntime.runMain({ teardown })
)
