import { Context } from "effect"

/**
 * Returns true if the process paused since the current work was requested: the caller may have given up, asked another
 * node, and had the work undone. Always false for work without a caller.
 */
export const ProcessStalled = Context.Reference<() => boolean>("murmuration/services/runtime/StoodStill", {
  defaultValue: () => () => false
})
