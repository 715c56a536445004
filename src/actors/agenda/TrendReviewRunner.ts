import { Effect, Layer } from "effect"
import { TrendReviewEmails } from "../../services/trends/TrendReviewEmails.ts"
import { repeatEvery } from "./ClaimRounds.ts"

/** Sends staff e-mails about trends that wait for review: every node checks, and one node sends them. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(TrendReviewEmails, ({ send }) => repeatEvery("1 minute", "e-mails about trends", send))
)
