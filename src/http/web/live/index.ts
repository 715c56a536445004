import { Layer } from "effect"
import * as Parts from "./Parts.ts"
import * as WebStream from "./WebStream.ts"

/** Live changes of pages. */
export const layer = Layer.mergeAll(Parts.layer, WebStream.layer)
