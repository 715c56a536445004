import { Layer } from "effect"
import * as Intents from "./Intents.ts"
import * as Interact from "./Interact.ts"

/** Acts across servers: visitors continue on their own server, and members come here from others. */
export const layer = Layer.merge(Interact.layer, Intents.layer)
