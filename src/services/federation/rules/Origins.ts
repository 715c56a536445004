import { typeOf } from "../documents/Reading.ts"
import { accept, drop, type Rule } from "./Rule.ts"

/** Why nothing at all is taken from a domain; its server is told. */
export const closedDomain = "its domain is closed"

/** Nothing comes from a domain that is suspended or, in limited federation, not on the list. */
export const domain: Rule = (_, { standing }) => standing.allowed ? accept : drop(closedDomain)

/** What somebody who is suspended may still do: take back, and say that it is over (federation.md section 7). */
const whileSuspended = ["Delete", "Reject", "Undo", "Update"] as const

export const suspension: Rule = (activity, { suspended }) =>
  suspended && typeOf(activity, ...whileSuspended) === undefined ? drop("its sender is suspended") : accept

/** Reports of a domain whose reports are rejected. */
export const reports: Rule = (activity, { standing }) =>
  standing.rejectReports && typeOf(activity, "Flag") !== undefined ? drop("reports of its domain are rejected") : accept
