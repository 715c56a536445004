import { Context } from "effect"

/**
 * Name of the background work that a fiber does, for the log. Requests and actors have their own: the route, the type of the
 * actor.
 */
export const CurrentWork = Context.Reference<string | undefined>("murmuration/services/CurrentWork", {
  defaultValue: () => undefined
})
