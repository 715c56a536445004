import { Layer } from "effect"
import * as Icons from "./Icons.ts"
import { WebPages } from "./WebPages.ts"
import * as WebStylesheet from "./WebStylesheet.ts"

/** The frame of pages, and the files that the frame refers to. */
export const layer = Layer.mergeAll(Icons.layer, WebStylesheet.layer, WebPages.layer)
