import { Context, Effect, Layer, type Scope } from "effect"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { lean } from "../services/Lean.ts"
import { Guard } from "./guard/Guard.ts"

/** Of the cluster, requests know the clients of actors only, which handlers take once. */
const cluster = /^effect\/cluster\//

/** What of a context requests need: settings of fibers, and what answers with files. */
export const forRequests = <Services>(context: Context.Context<Services>): Context.Context<Services> =>
  lean(context, cluster)

type Api = HttpApi.HttpApi<"murmuration", HttpApiGroup.Constraint>
type Made = HttpApiBuilder.Handlers<never>

/**
 * `HttpApiBuilder.group` for groups behind the guard, whose requests carry nothing that `build` took. What a handler
 * itself asks for while it answers must come with the request or with effect.
 */
export function group<
  Groups extends HttpApiGroup.Constraint,
  const Identifier extends HttpApiGroup.Identifier<Groups>,
  Return
>(
  api: HttpApi.HttpApi<"murmuration", Groups>,
  identifier: Identifier,
  build: (
    handlers: HttpApiBuilder.Handlers.FromGroup<HttpApiGroup.WithIdentifier<Groups, Identifier>>
  ) => HttpApiBuilder.Handlers.ValidateReturn<Return>
): Layer.Layer<
  HttpApiGroup.Service<"murmuration", Identifier>,
  HttpApiBuilder.Handlers.Error<Return>,
  Exclude<HttpApiBuilder.Handlers.Context<Return>, Scope.Scope>
>
export function group(api: Api, identifier: string, build: unknown): unknown {
  return Layer.effectContext(Effect.gen(function*() {
    const services = yield* Effect.context<Guard | Scope.Scope>()
    const made = HttpApiBuilder.group(api, identifier, (handlers): Made | Effect.Effect<Made> => {
      if (typeof build !== "function") throw new TypeError("A group of endpoints without handlers")
      const found: Made | Effect.Effect<Made> = build(handlers)
      return Effect.isEffect(found) ? Effect.provideContext(found, services) : found
    })
    return yield* Effect.updateContext(
      Layer.build(made),
      () => Context.add(forRequests(services), Guard, Context.get(services, Guard))
    )
  }))
}
