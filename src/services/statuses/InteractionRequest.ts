import { Schema } from "effect"
import { AccountId } from "../Ids.ts"
import { Timestamptz } from "../Rows.ts"
import type { Governed, Interaction } from "./InteractionPolicy.ts"
import { Visibility } from "./Visibility.ts"

/** What is asked for, in the words of clients. */
export const RequestKind = Schema.Literals(["favourite", "reply", "reblog"])
export type RequestKind = typeof RequestKind.Type

/** What a policy calls it. */
export const interactionOf: { readonly [Kind in RequestKind]: Interaction } = {
  favourite: "canLike",
  reply: "canReply",
  reblog: "canAnnounce"
}

export const RequestState = Schema.Literals(["pending", "accepted", "rejected"])
export type RequestState = typeof RequestState.Type

/** The same, and a quote, which is a request by itself: its id is that of the status that quotes. */
export const AskedKind = Schema.Literals([...RequestKind.literals, "quote"])
export type AskedKind = typeof AskedKind.Type

/** A request as its owner reads it. */
export const AskedInteraction = Schema.Struct({
  id: Schema.BigInt,
  kind: AskedKind,
  accountId: Schema.BigInt,
  statusId: Schema.BigInt,
  /** The reply, the reblog or what quotes, as long as it is there. */
  interactionId: Schema.NullOr(Schema.BigInt),
  state: RequestState,
  createdAt: Timestamptz,
  decidedAt: Schema.NullOr(Timestamptz)
})
export type AskedInteraction = typeof AskedInteraction.Type

/** A request as those who act on it know it. */
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
  /** Who asks is somebody here. */
  local: Schema.Boolean
})
export type KnownRequest = typeof KnownRequest.Type
/** The same, with what it was before it was decided. */
export const DecidedRequest = Schema.Struct({ ...KnownRequest.fields, before: RequestState })
export type DecidedRequest = typeof DecidedRequest.Type

/** The consent that an interaction of another server claims to have of an author elsewhere. */
export const ClaimedConsent = Schema.Struct({
  kind: RequestKind,
  accountId: AccountId,
  uri: Schema.String,
  authorizationUri: Schema.String,
  /** The ids of the status and of its author. */
  target: Schema.String,
  author: Schema.String
})
export type ClaimedConsent = typeof ClaimedConsent.Type

/** A status that somebody acts on. */
export interface PolicyTarget extends Governed {
  readonly id: bigint
  readonly accountId: bigint
}

export interface NewRequest {
  readonly kind: RequestKind
  readonly accountId: bigint
  readonly target: Pick<PolicyTarget, "id" | "accountId">
  readonly interactionId: bigint | null
  readonly state: RequestState
  /** The ids of the interaction, and of the request for it, where they come from another server. */
  readonly uri?: string | undefined
  readonly requestUri?: string | undefined
  readonly authorizationUri?: string | undefined
}
