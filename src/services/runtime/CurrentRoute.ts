import { Context, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"

/** Segment of a path that names a route: no id, and no secret. */
const segment = /^(?:v\d|[a-z_.-]{1,24})$/
/** Maximum segments of a path that are named. */
const segmentsMax = 8

/** Returns a URL's path with `*` for each segment that may be an id. */
const pathOf = (url: string) => {
  const segments = (url.split("?", 1)[0] ?? "").split("/", segmentsMax + 1).slice(1)
  return `/${segments.map((one) => one === "" || segment.test(one) ? one : "*").join("/")}`
}

/**
 * Returns the method and the route of the request that a context belongs to, without its ids and its query; undefined
 * for other work. Outside of the route's handler the path stands for the route.
 */
export const routeOf = (context: Context.Context<never>): string | undefined => {
  const request = Option.getOrUndefined(Context.getOption(context, HttpServerRequest.HttpServerRequest))
  if (request === undefined) return undefined
  const route = Option.getOrUndefined(Context.getOption(context, HttpRouter.RouteContext))
  return `${request.method} ${route === undefined ? pathOf(request.url) : route.route.path}`
}
