import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, Fiber, Layer, Runtime, Stdio } from "effect"
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { program } from "../../src/cli/RootCommand.ts"
import { teardown } from "../../src/layers/OperatorError.ts"
import type { Ended } from "./Program.ts"

const collected = () => {
  let text = ""
  const stream = new Writable({
    write: (chunk, _encoding, next) => {
      text += chunk
      next()
    }
  })
  return { stream, text: () => text }
}

/**
 * Runs an operator command to its end inside the test's process, with only the given variables. A separate process
 * (`Program.cli`) would take a second to load the program. None of the test's services, clock or layers are in its
 * context.
 */
export const cli = (args: ReadonlyArray<string>, variables: Record<string, string>): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const [out, err] = [collected(), collected()]
    const here = Layer.mergeAll(
      Stdio.layerTest({ args: Effect.succeed(args) }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })),
      Layer.succeed(Console.Console, new NodeConsole(out.stream, err.stream))
    )
    let interrupt: Effect.Effect<void> = Effect.void
    Runtime.makeRunMain(({ fiber, teardown }) => {
      interrupt = Fiber.interrupt(fiber)
      fiber.addObserver((exit) =>
        teardown(exit, (code) => resume(Effect.succeed({ code, out: out.text(), err: err.text() })))
      )
    })(program.pipe(Effect.provide(here), Effect.provide(NodeServices.layer)), { teardown })
    return Effect.suspend(() => interrupt)
  })
