import { Effect, Layer } from "effect"
import { Translator } from "../services/translation/Translator.ts"
import { Environment } from "./Environment.ts"
import { anywhere, outboundTo } from "./outbound/ConfiguredHosts.ts"
import * as DeepL from "./translation/DeepL.ts"
import * as LibreTranslate from "./translation/LibreTranslate.ts"

/** The configured translation service, if any. */
export const layer = Layer.unwrap(Effect.map(Environment, ({ translation }) => {
  if (translation === undefined) return Layer.succeed(Translator, undefined)
  return Layer.effect(
    Translator,
    translation.kind === "deepl" ? DeepL.make(translation) : LibreTranslate.make(translation)
  ).pipe(Layer.provide(outboundTo(anywhere, (host) => host === new URL(translation.url).host)))
}))
