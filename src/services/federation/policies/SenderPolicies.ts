import { activityTypeOf, isOfTrait } from "../documents/ActivityTypes.ts"
import { accept, drop, type InboundPolicy } from "./InboundPolicy.ts"

/** Reason for refusing everything from a domain; its server gets an error. */
export const closedDomain = "its domain is closed"

/** Drops everything from domains that are suspended or, in limited federation, not on the list. */
export const domain: InboundPolicy = (_, { policy }) => policy.allowed ? accept : drop(closedDomain)

/** Drops activities of suspended senders, except those that undo something or end the suspension. */
export const suspension: InboundPolicy = (activity, { suspended }) =>
  suspended && !isOfTrait(activity, "whileSuspended") ? drop("its sender is suspended") : accept

/** Drops reports of domains whose reports are rejected. */
export const reports: InboundPolicy = (activity, { policy }) =>
  policy.rejectReports && activityTypeOf(activity) === "Flag" ? drop("reports of its domain are rejected") : accept
