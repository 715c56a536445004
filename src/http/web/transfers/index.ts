import { Layer } from "effect"
import { FileImports } from "../../../services/transfers/FileImports.ts"
import { ListExports } from "../../../services/transfers/ListExports.ts"
import * as ImportPage from "./ImportPage.ts"
import * as ListsPage from "./ListsPage.ts"

/** Imports and exports of members. */
export const layer = Layer.mergeAll(ImportPage.layer, ListsPage.layer).pipe(
  Layer.provide([FileImports.layer, ListExports.layer])
)
