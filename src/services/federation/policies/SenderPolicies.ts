import { activityTypeOf, isOfTrait } from "../documents/ActivityTypes.ts"
import { accept, drop, type InboundPolicy } from "./InboundPolicy.ts"

/** Why nothing at all is taken from a domain; its server is told. */
export const closedDomain = "its domain is closed"

/** Nothing comes from a domain that is suspended or, in limited federation, not on the list. */
export const domain: InboundPolicy = (_, { policy }) => policy.allowed ? accept : drop(closedDomain)

/** Suspended senders may take back, and say that the suspension is over. */
export const suspension: InboundPolicy = (activity, { suspended }) =>
  suspended && !isOfTrait(activity, "whileSuspended") ? drop("its sender is suspended") : accept

/** Reports of a domain whose reports are rejected. */
export const reports: InboundPolicy = (activity, { policy }) =>
  policy.rejectReports && activityTypeOf(activity) === "Flag" ? drop("reports of its domain are rejected") : accept
