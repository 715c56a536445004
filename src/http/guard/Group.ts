import { Effect, Layer, Scope } from "effect"
import type { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import type { Simplify } from "effect/Struct"
import { reduceContext } from "../../services/runtime/Lean.ts"
import type { Caller } from "./Caller.ts"
import { Guard } from "./Guard.ts"
import type { Refusal, ResponseAs } from "./Reply.ts"

/**
 * Handler of an endpoint: returns its declared response or a refusal. A handler may use only `Caller` and the router's
 * request services; all other services are taken when the group is built.
 */
type Handler<Endpoint extends HttpApiEndpoint.Constraint> = (
  request: Simplify<Endpoint["~Request"]>
) => Effect.Effect<
  ResponseAs<Endpoint["~Success"]["Type"]> | Refusal,
  Endpoint["~Error"]["Type"] | HttpApiEndpoint.MiddlewareError<Endpoint>,
  Caller | HttpRouter.Provided
>

type Endpoints = Readonly<Record<string, HttpApiEndpoint.Constraint>>

/** Takes the handlers of a group, one per endpoint. */
interface Unhandled<All extends Endpoints> {
  readonly handleAll: (handlers: { readonly [Name in keyof All]: Handler<All[Name]> }) => Handled
}

type Handled = HttpApiBuilder.Handlers<never>

/**
 * Builds the layer of a group behind the guard. `build` takes the services that its handlers need. Requests carry none
 * of them, so a handler that asks for one does not compile.
 */
export function group<Group extends HttpApiGroup.Constraint, E, R>(
  declared: Group,
  build: (handlers: Unhandled<Group["endpoints"]>) => Effect.Effect<Handled, E, R>
): Layer.Layer<HttpApiGroup.ToService<"murmuration", Group>, E, Exclude<R, Scope.Scope> | Guard>
export function group(declared: HttpApiGroup.Constraint, build: unknown): unknown {
  const api = HttpApi.make("murmuration").add(declared)
  return Layer.effectContext(Effect.gen(function*() {
    const services = yield* Effect.context<Guard | Scope.Scope>()
    const groupLayer = HttpApiBuilder.group(api, declared.identifier, (handlers) => {
      if (typeof build !== "function") throw new TypeError("A group of endpoints without handlers")
      const handled: Effect.Effect<Handled> = build(handlers)
      return Effect.provideContext(handled, services)
    })
    return yield* Effect.updateContext(Layer.build(groupLayer), reduceContext(Guard, Scope.Scope))
  }))
}
