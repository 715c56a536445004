import { Layer } from "effect"
import { Instance } from "../services/instance/Instance.ts"
import { InstanceRules } from "../services/instance/InstanceRules.ts"
import { InstanceSettings } from "../services/instance/InstanceSettings.ts"
import * as Operator from "./Operator.ts"

/** Services of the `instance` commands. */
export const layer = Layer.satisfiesServicesType<never>()(
  Layer.mergeAll(Instance.layer, InstanceRules.layer, InstanceSettings.layer).pipe(
    Layer.provideMerge(Operator.layer)
  )
)
