import { Layer } from "effect"
import * as CollectionEditor from "./CollectionEditor.ts"
import * as OwnCollections from "./OwnCollections.ts"

/** Collections of recommended accounts: the member's own ones, and those that the member is in. */
export const layer = Layer.merge(OwnCollections.layer, CollectionEditor.layer)
