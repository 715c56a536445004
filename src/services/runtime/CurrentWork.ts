import { Context } from "effect"

/**
 * Name of the background work that the fiber runs, for the log. Requests and actors have their own: the route, or the
 * actor's type.
 */
export const CurrentWork = Context.Reference<string | undefined>("murmuration/services/runtime/CurrentWork", {
  defaultValue: () => undefined
})
