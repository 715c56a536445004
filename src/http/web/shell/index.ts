import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { FormPages } from "../../../services/identity/FormPages.ts"
import * as FormResponses from "../../html/FormResponses.ts"
import { Visitors } from "../../html/Visitors.ts"
import * as Icons from "./Icons.ts"
import { WebPages } from "./WebPages.ts"
import * as WebStylesheet from "./WebStylesheet.ts"

const formPages = Layer.unwrap(
  Effect.map(FormResponses.make, ({ show }) => HttpRouter.add("GET", `${FormResponses.formPagesPath}/:id`, show))
).pipe(Layer.provide([FormPages.layer, Visitors.layer]))

/** The frame of pages, the files that the frame refers to, and the pages that responded to forms. */
export const layer = Layer.mergeAll(Icons.layer, WebStylesheet.layer, formPages).pipe(
  Layer.provideMerge(WebPages.layer)
)
