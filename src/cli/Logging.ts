import { Layer, Logger, References } from "effect"

/** Logs warnings to standard error, so that standard output has the command's result only. */
export const layer = Layer.mergeAll(
  Layer.succeed(Logger.LogToStderr, true),
  Layer.succeed(References.MinimumLogLevel, "Warn"),
  Layer.succeed(References.TracerEnabled, false)
)
