import { Layer } from "effect"
import * as HealthRoute from "./HealthRoute.ts"
import * as HostMeta from "./HostMetaRoute.ts"
import * as NodeInfo from "./NodeInfoRoute.ts"
import * as WebFinger from "./WebFinger.ts"

/** Fixed paths for other servers and monitors; open in restricted mode, too. */
export const layer = Layer.mergeAll(HealthRoute.layer, HostMeta.layer, NodeInfo.layer, WebFinger.layer)
