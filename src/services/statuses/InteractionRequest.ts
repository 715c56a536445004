import { Schema } from "effect"
import { AccountId } from "../database/Ids.ts"
import { Timestamptz } from "../database/Rows.ts"
import type { Interaction, PolicySubject } from "./InteractionPolicy.ts"
import { Visibility } from "./Visibility.ts"

/** Kinds of requests, as in the API. */
export const RequestKind = Schema.Literals(["favourite", "reply", "reblog"])
export type RequestKind = typeof RequestKind.Type

/** Policy names of the kinds. */
export const interactionOf: { readonly [Kind in RequestKind]: Interaction } = {
  favourite: "canLike",
  reply: "canReply",
  reblog: "canAnnounce"
}

export const RequestState = Schema.Literals(["pending", "accepted", "rejected"])
export type RequestState = typeof RequestState.Type

/** Kinds with quotes, which are requests themselves: the id is that of the quoting status. */
export const InteractionRequestKind = Schema.Literals([...RequestKind.literals, "quote"])
export type InteractionRequestKind = typeof InteractionRequestKind.Type

/** A request as its owner sees it. */
export const InteractionRequestRecord = Schema.Struct({
  id: Schema.BigInt,
  kind: InteractionRequestKind,
  accountId: Schema.BigInt,
  statusId: Schema.BigInt,
  /** The reply, boost or quoting status, until it is deleted. */
  interactionId: Schema.NullOr(Schema.BigInt),
  state: RequestState,
  createdAt: Timestamptz,
  decidedAt: Schema.NullOr(Timestamptz)
})
export type InteractionRequestRecord = typeof InteractionRequestRecord.Type

/** A request with the data to act on it. */
export const KnownRequest = Schema.Struct({
  id: Schema.BigInt,
  kind: RequestKind,
  accountId: Schema.BigInt,
  targetAccountId: Schema.BigInt,
  statusId: Schema.BigInt,
  interactionId: Schema.NullOr(Schema.BigInt),
  visibility: Schema.NullOr(Visibility),
  mentioned: Schema.Array(Schema.BigInt),
  readers: Schema.Array(Schema.BigInt),
  state: RequestState,
  /** The requester is a local account. */
  local: Schema.Boolean
})
export type KnownRequest = typeof KnownRequest.Type
/** A request with its state before the decision. */
export const DecidedRequest = Schema.Struct({ ...KnownRequest.fields, before: RequestState })
export type DecidedRequest = typeof DecidedRequest.Type

/** Consent of a remote author that a remote interaction claims to have. */
export const ClaimedConsent = Schema.Struct({
  kind: RequestKind,
  accountId: AccountId,
  uri: Schema.String,
  authorizationUri: Schema.String,
  /** Ids of the status and its author. */
  target: Schema.String,
  author: Schema.String
})
export type ClaimedConsent = typeof ClaimedConsent.Type

/** A status that an account interacts with. */
export interface PolicyTarget extends PolicySubject {
  readonly id: bigint
  readonly accountId: bigint
}

export interface NewRequest {
  readonly kind: RequestKind
  readonly accountId: bigint
  readonly target: Pick<PolicyTarget, "id" | "accountId">
  readonly interactionId: bigint | null
  readonly state: RequestState
  /** Ids of the interaction and of its request, if remote. */
  readonly uri?: string | undefined
  readonly requestUri?: string | undefined
  readonly authorizationUri?: string | undefined
}
