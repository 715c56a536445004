import { Layer } from "effect"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { ServerConfig } from "../../src/services/instance/ServerConfig.ts"
import { Retention } from "../../src/services/intents/Retention.ts"
import { configurationOf } from "./Configuration.ts"

/** Retention alone; its broadcasts have no receiver. */
export const retention = Retention.layer.pipe(
  Layer.provide([Broadcast.layerMemory, Layer.succeed(ServerConfig, configurationOf("here.example"))])
)
