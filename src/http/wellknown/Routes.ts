import { Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as HostMeta from "./HostMeta.ts"
import * as NodeInfo from "./NodeInfo.ts"
import * as WebFinger from "./WebFinger.ts"

/** Says that the process answers; it asks nothing of what the server runs on. */
const health = HttpRouter.add(
  "GET",
  "/health",
  HttpServerResponse.text("OK", { headers: { "cache-control": "private, no-store" } })
)

/** What other servers and monitors ask for at fixed addresses, in restricted mode, too. */
export const layer = Layer.mergeAll(health, HostMeta.layer, NodeInfo.layer, WebFinger.layer)
