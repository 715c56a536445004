import { Layer, Logger, References } from "effect"

/** What a command answers is on the standard output, alone; warnings go to the other one. */
export const layer = Layer.mergeAll(
  Layer.succeed(Logger.LogToStderr, true),
  Layer.succeed(References.MinimumLogLevel, "Warn"),
  Layer.succeed(References.TracerEnabled, false)
)
