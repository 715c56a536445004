import { Array as Arr, Effect } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { group } from "../Group.ts"
import { Guard } from "../guard/Guard.ts"
import { endpointsOf, handlersOf } from "./placeholders/Route.ts"
import { routes } from "./placeholders/routes.ts"

export class PlaceholdersGroup extends HttpApiGroup.make("later")
  .add(...Arr.flatMap(routes, endpointsOf))
  .middleware(Guard)
  .annotate(OpenApi.Description, "Capabilities that are still to come; until then each answers its true empty state")
{}

/** What belongs to later capabilities: nothing can be there yet, and a change is refused in words, never in silence. */
export const layer = group(
  PlaceholdersGroup,
  (handlers) => Effect.succeed(handlers.handleAll(Object.fromEntries(routes.flatMap(handlersOf))))
)
