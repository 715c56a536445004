import { Context } from "effect"

/**
 * Whether the process has stood still since the running work was asked for: the caller may have given up long ago,
 * asked elsewhere, and had it undone. Where nobody waits for an answer it is never so.
 */
export const StoodStill = Context.Reference<() => boolean>("murmuration/services/StoodStill", {
  defaultValue: () => () => false
})
