import { typeOf } from "../documents/Reading.ts"
import { accept, drop, type InboundPolicy } from "./InboundPolicy.ts"

/** Why nothing at all is taken from a domain; its server is told. */
export const closedDomain = "its domain is closed"

/** Nothing comes from a domain that is suspended or, in limited federation, not on the list. */
export const domain: InboundPolicy = (_, { policy }) => policy.allowed ? accept : drop(closedDomain)

/** What somebody who is suspended may still do: take back, and say that it is over (federation.md section 7). */
const whileSuspended = ["Delete", "Reject", "Undo", "Update"] as const

export const suspension: InboundPolicy = (activity, { suspended }) =>
  suspended && typeOf(activity, ...whileSuspended) === undefined ? drop("its sender is suspended") : accept

/** Reports of a domain whose reports are rejected. */
export const reports: InboundPolicy = (activity, { policy }) =>
  policy.rejectReports && typeOf(activity, "Flag") !== undefined ? drop("reports of its domain are rejected") : accept
