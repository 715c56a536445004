import { Effect, Layer } from "effect"
import { EmailDigests } from "../../services/subscriptions/EmailDigests.ts"
import { repeatEvery } from "./ClaimRounds.ts"

/** Sends e-mail digests of posts: every node checks, and each slice is claimed by one node. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(EmailDigests, ({ sweep }) => repeatEvery("1 minute", "posts by e-mail", sweep))
)
