import { Effect, Layer } from "effect"
import { NotificationEmails } from "../../services/identity/NotificationEmails.ts"
import { repeatEvery } from "./ClaimRounds.ts"

/** Promises e-mails about notifications: every node checks, and each user is claimed by one node. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(NotificationEmails, ({ sweep }) => repeatEvery("1 minute", "e-mails about notifications", sweep))
)
