import { Context, Effect } from "effect"

/**
 * Documents of the repository in Markdown, by path (`docs/guide/index.md`); read on first use. Empty if the program was
 * installed without them.
 */
export const Manual = Context.Reference<Effect.Effect<ReadonlyMap<string, string>>>(
  "murmuration/services/instance/Manual",
  { defaultValue: () => Effect.succeed(new Map()) }
)
