import { Context } from "effect"

/**
 * Whether the process has stood still since what is being done was asked for, so that whoever asked may have given up long
 * ago, asked elsewhere, and had it undone. Where nobody waits for an answer it is never so.
 */
export const StoodStill = Context.Reference<() => boolean>("murmuration/services/StoodStill", {
  defaultValue: () => () => false
})
