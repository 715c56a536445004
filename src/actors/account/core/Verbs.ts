import type { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../../services/database/Ids.ts"
import type { CommandResponse, Family } from "../../../services/intents/Commands.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import type { AlreadyDone } from "../../../services/staff/AuditLog.ts"
import type { Command } from "./AccountProtocol.ts"
import type { Ownership, RecordStatement } from "./Ownership.ts"

/** Commands by tag. */
export type Commands = { readonly [Tag in Command["_tag"]]: Extract<Command, { readonly _tag: Tag }> }

/** Actions of staff against the account, which another staff member may have done first. */
type StaffVerb =
  | "DecideAppeal"
  | "DeleteAccount"
  | "ForwardReport"
  | "LiftAction"
  | "ModerateStatuses"
  | "ReviewPost"
  | "TakeAction"

/** Handlers of commands, inside the command's transaction. Built once per node for all its actors. */
export type Verbs<Tags extends keyof Commands = keyof Commands> = {
  readonly [Tag in Tags]: (
    own: Ownership,
    command: Commands[Tag]
  ) => Effect.Effect<CommandResponse, ClientError | SqlError | (Tag extends StaffVerb ? AlreadyDone : never)>
}

/**
 * Handlers that need no transaction for simple commands. A response is certain. After undefined (nothing was done) or a
 * failure, the verb decides the command.
 */
type StatementVerbs<Tags extends keyof Commands = keyof Commands> = {
  readonly [Tag in Tags]?: (
    own: Ownership,
    command: Commands[Tag],
    record: RecordStatement
  ) => Effect.Effect<CommandResponse | undefined, ClientError | SqlError>
}

/** Runs the verb of a command. */
export const perform = <Tag extends keyof Commands>(verbs: Verbs, tag: Tag, own: Ownership, command: Commands[Tag]) =>
  verbs[tag](own, command)
/** Returns the command's single-statement handler, if there is one. */
export const performAsStatement = <Tag extends keyof Commands>(
  verbs: StatementVerbs,
  tag: Tag,
  own: Ownership,
  command: Commands[Tag]
) => {
  const verb = verbs[tag]
  return verb && ((record: RecordStatement) => verb(own, command, record))
}

/** Rate limits that commands count against; other commands are not limited. */
const families: Partial<Record<Command["_tag"], Family>> = {
  Publish: "statuses",
  Edit: "statuses",
  Schedule: "statuses",
  PublishDraft: "statuses",
  Reblog: "statuses",
  Follow: "follows",
  FollowTag: "follows",
  Report: "reports"
}

/** Returns the rate limit that a command counts against; undefined if it is not limited. */
export const familyOf = (command: Command): Family | undefined =>
  command._tag === "Follow" && command.imported === true ? undefined : families[command._tag]

export const onStatus = (id: bigint): CommandResponse => ({ id: String(id), kind: "status" })
export const onScheduled = (id: bigint): CommandResponse => ({ id: String(id), kind: "scheduled" })
export const onDraft = (id: bigint): CommandResponse => ({ id: String(id), kind: "draft" })
export const onReport = (id: bigint): CommandResponse => ({ id: String(id), kind: "report" })
export const onWarning = (id: bigint): CommandResponse => ({ id: String(id), kind: "warning" })
export const onCollection = (id: bigint): CommandResponse => ({ id: String(id), kind: "collection" })
export const onAnnouncement = (id: bigint): CommandResponse => ({ id: String(id), kind: "announcement" })
export const onAccount = (id: AccountId): CommandResponse => ({ id: String(id), kind: "account" })
/** Refused by the spam rule with this id. */
export const onRefused = (id: bigint): CommandResponse => ({ id: String(id), kind: "refused" })
