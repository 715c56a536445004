import { Layer } from "effect"
import * as HostMeta from "./HostMetaRoute.ts"
import * as NodeInfo from "./NodeInfoRoute.ts"
import * as WebFinger from "./WebFinger.ts"

/** Fixed paths for other servers; open in restricted mode, too. */
export const layer = Layer.mergeAll(HostMeta.layer, NodeInfo.layer, WebFinger.layer)
