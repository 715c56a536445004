import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { formPagesPath } from "./FormResponses.ts"
import * as Icons from "./Icons.ts"
import { WebPages } from "./WebPages.ts"
import * as WebStylesheet from "./WebStylesheet.ts"

const formPages = Layer.unwrap(
  Effect.map(WebPages, ({ formPage, member }) => HttpRouter.add("GET", `${formPagesPath}/:id`, member(formPage)))
)

/** The frame of pages, the files that the frame refers to, and the pages that responded to forms. */
export const layer = Layer.mergeAll(Icons.layer, WebStylesheet.layer, formPages).pipe(
  Layer.provideMerge(WebPages.layer)
)
