import { Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as HostMeta from "./HostMetaRoute.ts"
import * as NodeInfo from "./NodeInfoRoute.ts"
import * as WebFinger from "./WebFinger.ts"

/** Reports that the process responds; it checks no dependency. */
const health = HttpRouter.add(
  "GET",
  "/health",
  HttpServerResponse.text("OK", { headers: { "cache-control": "private, no-store" } })
)

/** Fixed paths for other servers and monitors; open in restricted mode, too. */
export const layer = Layer.mergeAll(health, HostMeta.layer, NodeInfo.layer, WebFinger.layer)
