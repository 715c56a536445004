import { Layer } from "effect"
import { BlockedAddresses } from "../services/moderation/BlockedAddresses.ts"
import { SignUpBlocks } from "../services/moderation/SignUpBlocks.ts"

/** Sign-up blocks and IP blocks by staff. */
export const layer = SignUpBlocks.layer.pipe(Layer.provideMerge(BlockedAddresses.layer))
