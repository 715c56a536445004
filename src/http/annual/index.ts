import * as OwnAnnualReports from "./OwnAnnualReports.ts"

export const groups = [OwnAnnualReports.AnnualReportsGroup] as const

/** Handlers of the groups. */
export const layer = OwnAnnualReports.layer
