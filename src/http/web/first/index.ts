import { Layer } from "effect"
import * as OwnerSetup from "./OwnerSetup.ts"
import * as Welcome from "./Welcome.ts"

/** First steps of a new owner. */
export const layer = Layer.mergeAll(OwnerSetup.layer, Welcome.layer)
