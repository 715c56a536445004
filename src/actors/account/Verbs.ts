import type { AccountId } from "../../services/Ids.ts"
import type { Answer, Family } from "../../services/intents/Commands.ts"
import type { Command } from "./Protocol.ts"

/** The limits that commands use; the others are free. */
export const familyOf: Partial<Record<Command["_tag"], Family>> = {
  Publish: "statuses",
  Edit: "statuses",
  Schedule: "statuses",
  Reblog: "statuses",
  Follow: "follows"
}

export const onStatus = (id: bigint): Answer => ({ id: String(id), kind: "status" })
export const onScheduled = (id: bigint): Answer => ({ id: String(id), kind: "scheduled" })
export const onAccount = (id: AccountId): Answer => ({ id: String(id), kind: "account" })
