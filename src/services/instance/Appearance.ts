import { Context, Effect, Layer } from "effect"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { type About, Instance } from "./Instance.ts"

/** How long it is believed, in milliseconds: while changes on other nodes are heard of, and while they are not. */
const lookMillisMax = 30_000
const lookAloneMillisMax = 1_000

/** The part of what the server says about itself that every page and tab shows. */
export type Look = Pick<About, "title" | "shortDescription" | "accentColor" | "appIcon" | "favicon">

/** How the server looks, as staff set it. In memory, until somebody changes it on any node. */
export class Appearance extends Context.Service<Appearance, {
  readonly current: Effect.Effect<Look>
}>()("murmuration/services/instance/Appearance") {
  static readonly layer = Layer.effect(
    Appearance,
    Effect.gen(function*() {
      const { about } = yield* Instance
      const current = yield* single({
        kinds: ["instance"],
        millisMax: lookMillisMax,
        aloneMillisMax: lookAloneMillisMax
      }, about)
      return Appearance.of({ current })
    })
  ).pipe(Layer.provide([Changes.layer, Instance.layer]))
}
