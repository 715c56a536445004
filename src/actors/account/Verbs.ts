import type { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { ClientError } from "../../services/Errors.ts"
import type { AccountId } from "../../services/Ids.ts"
import type { CommandAnswer, Family } from "../../services/intents/Commands.ts"
import type { LostAct } from "../../services/staff/AuditLog.ts"
import type { Ownership, RecordAlone } from "./Ownership.ts"
import type { Command } from "./Protocol.ts"

/** Commands by their tags. */
export type Commands = { readonly [Tag in Command["_tag"]]: Extract<Command, { readonly _tag: Tag }> }

/** What staff do to the account, of whom another one may have been faster. */
type ByStaff =
  | "DecideAppeal"
  | "DeleteAccount"
  | "ForwardReport"
  | "LiftAction"
  | "ModerateStatuses"
  | "ReviewPost"
  | "TakeAction"

/** What an account does at a command, inside the command's transaction. Verbs are made once a node, for all its actors. */
export type Verbs<Tags extends keyof Commands = keyof Commands> = {
  readonly [Tag in Tags]: (
    own: Ownership,
    command: Commands[Tag]
  ) => Effect.Effect<CommandAnswer, ClientError | SqlError | (Tag extends ByStaff ? LostAct : never)>
}

/**
 * What needs no transaction to do a command, at least where it is simple; undefined where it did nothing. What it answers is
 * certain, what it fails with is not: the verb says what becomes of the command.
 */
type AloneVerbs<Tags extends keyof Commands = keyof Commands> = {
  readonly [Tag in Tags]?: (
    own: Ownership,
    command: Commands[Tag],
    record: RecordAlone
  ) => Effect.Effect<CommandAnswer | undefined, ClientError | SqlError>
}

/** Does the command under its tag. */
export const perform = <Tag extends keyof Commands>(verbs: Verbs, tag: Tag, own: Ownership, command: Commands[Tag]) =>
  verbs[tag](own, command)
/** The same by `AloneVerbs`, where there is one. */
export const performAlone = <Tag extends keyof Commands>(
  verbs: AloneVerbs,
  tag: Tag,
  own: Ownership,
  command: Commands[Tag]
) => {
  const verb = verbs[tag]
  return verb && ((record: RecordAlone) => verb(own, command, record))
}

/** The limits that commands use; the others are free. */
export const familyOf: Partial<Record<Command["_tag"], Family>> = {
  Publish: "statuses",
  Edit: "statuses",
  Schedule: "statuses",
  PublishDraft: "statuses",
  Reblog: "statuses",
  Follow: "follows",
  FollowTag: "follows",
  Report: "reports"
}

export const onStatus = (id: bigint): CommandAnswer => ({ id: String(id), kind: "status" })
export const onScheduled = (id: bigint): CommandAnswer => ({ id: String(id), kind: "scheduled" })
export const onDraft = (id: bigint): CommandAnswer => ({ id: String(id), kind: "draft" })
export const onReport = (id: bigint): CommandAnswer => ({ id: String(id), kind: "report" })
export const onWarning = (id: bigint): CommandAnswer => ({ id: String(id), kind: "warning" })
export const onCollection = (id: bigint): CommandAnswer => ({ id: String(id), kind: "collection" })
export const onAnnouncement = (id: bigint): CommandAnswer => ({ id: String(id), kind: "announcement" })
export const onAccount = (id: AccountId): CommandAnswer => ({ id: String(id), kind: "account" })
/** A rule against spam, by its id, does not let it be. */
export const onRefused = (id: bigint): CommandAnswer => ({ id: String(id), kind: "refused" })
