import { assert, it } from "@effect/vitest"
import { Console, Effect, Layer, Logger } from "effect"
import { Console as NodeConsole } from "node:console"
import { PassThrough } from "node:stream"
import { linesIn } from "../../src/layers/Telemetry.ts"

it.live("F246: a log line has no control characters of quoted texts", () =>
  Effect.gen(function*() {
    const out = new PassThrough()
    const printed = Layer.merge(Layer.succeed(Console.Console, new NodeConsole(out)), Logger.layer([linesIn("logfmt")]))
    yield* Effect.logInfo("refused\u001b[2J\u009b31m", "two words\u007f").pipe(Effect.provide(printed))
    assert.match(String(out.read()), /^[^\p{Cc}]* message="refused\[2J31m: two words"\n$/u)
  }))
