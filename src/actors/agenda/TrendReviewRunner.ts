import { Effect, Layer } from "effect"
import { TrendReviewEmails } from "../../services/trends/TrendReviewEmails.ts"
import { every } from "./ClaimRounds.ts"

/** Sends staff e-mails about trends that wait for review: every node checks, and one node sends them. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(TrendReviewEmails, ({ send }) => every("1 minute", "e-mails about trends", send))
)
