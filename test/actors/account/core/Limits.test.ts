import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Scope } from "effect"
import * as Backlog from "../../../../src/actors/account/core/Backlog.ts"
import * as Ownership from "../../../../src/actors/account/core/Ownership.ts"
import { Commands } from "../../../../src/services/intents/Commands.ts"
import { config, layerActors } from "../../../support/Actors.ts"
import { person } from "../../../support/People.ts"

layer(Layer.mergeAll(Commands.layer, config).pipe(Layer.provideMerge(layerActors)), { excludeTestServices: true })(
  "limits of an actor",
  (it) => {
    it.effect("F366: a committed command counts, even if nothing runs after its commit", () =>
      Effect.gen(function*() {
        const commands = yield* Commands
        const committed = yield* Deferred.make<void>()
        let stops = true
        /** The first command never ends after its commit, as on a node that freezes there. */
        const stopping = Commands.of({
          ...commands,
          runOnce: (...given) =>
            Effect.tap(
              commands.runOnce(...given),
              () => stops ? Effect.andThen(Deferred.succeed(committed, undefined), Effect.never) : Effect.void
            )
        })
        const owners = yield* Effect.provideService(Ownership.make, Commands, stopping)
        const own = Ownership.begin(yield* person("limited"), Backlog.make(yield* Scope.make()))
        const run = (id: string) => owners.runOnce(own, id, "statuses", Effect.succeed({ id, kind: "status" }))
        const first = yield* Effect.forkChild(run("1"))
        yield* Deferred.await(committed)
        stops = false
        const { standing } = yield* run("2")
        assert.strictEqual((standing?.limit ?? 0) - (standing?.remaining ?? 0), 2)
        yield* Fiber.interrupt(first)
      }))
  }
)
