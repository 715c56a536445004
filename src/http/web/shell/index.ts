import { Layer } from "effect"
import * as Icons from "./Icons.ts"
import * as Stylesheet from "./Stylesheet.ts"
import { WebPages } from "./WebPages.ts"

/** The frame of pages, and the files that the frame refers to. */
export const layer = Layer.mergeAll(Icons.layer, Stylesheet.layer, WebPages.layer)
