import { Layer } from "effect"
import { BlockedAddresses } from "../services/moderation/BlockedAddresses.ts"
import { SignUpBlocks } from "../services/moderation/SignUpBlocks.ts"

/** Whom staff keeps out. */
export const layer = SignUpBlocks.layer.pipe(Layer.provideMerge(BlockedAddresses.layer))
