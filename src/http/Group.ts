import { Effect, Layer, Scope } from "effect"
import type { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import type { Simplify } from "effect/Struct"
import { lean } from "../services/Lean.ts"
import type { Caller } from "./guard/Caller.ts"
import { Guard } from "./guard/Guard.ts"
import type { AnswerAs, Refusal } from "./guard/Reply.ts"

/**
 * Answers an endpoint with what it promises, or with a refusal. While it does, it may ask for who calls and for what the
 * router knows of the request; every other service was taken when the group was built.
 */
type Handler<Endpoint extends HttpApiEndpoint.Constraint> = (
  request: Simplify<Endpoint["~Request"]>
) => Effect.Effect<
  AnswerAs<Endpoint["~Success"]["Type"]> | Refusal,
  Endpoint["~Error"]["Type"] | HttpApiEndpoint.MiddlewareError<Endpoint>,
  Caller | HttpRouter.Provided
>

type Endpoints = Readonly<Record<string, HttpApiEndpoint.Constraint>>

/** Takes the handlers of a group, one for each of its endpoints. */
interface Unhandled<All extends Endpoints> {
  readonly handleAll: (handlers: { readonly [Name in keyof All]: Handler<All[Name]> }) => Handled
}

type Handled = HttpApiBuilder.Handlers<never>

/**
 * The layer of a group behind the guard. `build` takes the services that its handlers need; requests carry none of them, so
 * that a handler which asks for one does not compile.
 */
export function group<Group extends HttpApiGroup.Constraint, E, R>(
  declared: Group,
  build: (handlers: Unhandled<Group["endpoints"]>) => Effect.Effect<Handled, E, R>
): Layer.Layer<HttpApiGroup.ToService<"murmuration", Group>, E, Exclude<R, Scope.Scope> | Guard>
export function group(declared: HttpApiGroup.Constraint, build: unknown): unknown {
  const api = HttpApi.make("murmuration").add(declared)
  return Layer.effectContext(Effect.gen(function*() {
    const services = yield* Effect.context<Guard | Scope.Scope>()
    const made = HttpApiBuilder.group(api, declared.identifier, (handlers) => {
      if (typeof build !== "function") throw new TypeError("A group of endpoints without handlers")
      const handled: Effect.Effect<Handled> = build(handlers)
      return Effect.provideContext(handled, services)
    })
    return yield* Effect.updateContext(Layer.build(made), lean(Guard, Scope.Scope))
  }))
}
