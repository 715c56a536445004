import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"

/** Routes of a server under test, like `POST /web/lists`; without those of API groups. */
export class RouteTable extends Context.Service<RouteTable, Array<string>>()("murmuration/test/RouteTable") {
  static readonly layer = Layer.sync(RouteTable, () => [])
}

/** Records the routes of the layers that it is provided to, and forwards them to the router. */
export const recording = Layer.effect(
  HttpRouter.HttpRouter,
  Effect.gen(function*() {
    const router = yield* HttpRouter.HttpRouter
    const table = yield* RouteTable
    const add: HttpRouter.HttpRouter["add"] = (method, path, handler, options) => {
      table.push(`${method} ${path}`)
      return router.add(method, path, handler, options)
    }
    return { ...router, add }
  })
)
