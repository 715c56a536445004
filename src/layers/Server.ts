import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as Body from "../http/body/Body.ts"
import { routerConfig } from "../http/body/Paths.ts"
import * as Edge from "../http/Edge.ts"
import * as Routes from "../http/Routes.ts"
import * as Actors from "./Actors.ts"
import * as Foundation from "./Foundation.ts"
import * as HttpServer from "./HttpServer.ts"
import * as OutsideWakes from "./OutsideWakes.ts"
import * as Services from "./Services.ts"
import * as Telemetry from "./Telemetry.ts"
import * as WebSockets from "./WebSockets.ts"

const routes = Layer.mergeAll(
  Edge.layer,
  Body.layer,
  HttpServer.layerRouter,
  Telemetry.layerRouter,
  Routes.layer.pipe(Layer.provide(WebSockets.layer), Layer.provide(Services.layer))
)

/** The whole server as one value: what people reach, the actors behind it, and what both run on. Needs `Environment`. */
export const layer = HttpRouter.serve(routes, { routerConfig, disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(HttpServer.layer),
  Layer.provideMerge(OutsideWakes.layer),
  Layer.provideMerge(Actors.layer),
  Layer.provideMerge(Foundation.layer),
  Layer.provide(Telemetry.layer)
)
