import { Context, Effect, Layer } from "effect"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { type About, Instance } from "./Instance.ts"

/** Lifetime of the cache, in milliseconds: while this node receives changes, and while it does not. */
const cachedMillisMax = 30_000
const cachedAloneMillisMax = 1_000

/** Fields of the server's description that every page and tab shows. */
export type AppearanceFields = Pick<About, "title" | "description" | "accentColor" | "appIcon" | "favicon">

/** Appearance of the server, as staff set it. Cached until any node changes it. */
export class Appearance extends Context.Service<Appearance, {
  readonly current: Effect.Effect<AppearanceFields>
}>()("murmuration/services/instance/Appearance") {
  static readonly layer = Layer.effect(
    Appearance,
    Effect.gen(function*() {
      const { about } = yield* Instance
      const current = yield* single({
        kinds: ["instance"],
        millisMax: cachedMillisMax,
        aloneMillisMax: cachedAloneMillisMax
      }, about)
      return Appearance.of({ current })
    })
  ).pipe(Layer.provide([Changes.layer, Instance.layer]))
}
