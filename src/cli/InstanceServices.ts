import { Layer } from "effect"
import { Instance } from "../services/instance/Instance.ts"
import { SiteRules } from "../services/instance/SiteRules.ts"
import { SiteSettings } from "../services/instance/SiteSettings.ts"
import * as Operator from "./Operator.ts"

/** The services behind the commands about what the server says of itself. */
export const layer = Layer.mergeAll(Instance.layer, SiteRules.layer, SiteSettings.layer).pipe(
  Layer.provideMerge(Operator.layer)
)
