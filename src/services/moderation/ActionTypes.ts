/** What moderators do about an account that stands until they take it back (operations.md section 17). */
export const lastingTypes = ["disable", "sensitive", "silence", "suspend"] as const
export type LastingType = typeof lastingTypes[number]

/** The same, and a warning, which does nothing but tell. */
export const actionTypes = ["none", ...lastingTypes] as const
export type ActionType = typeof actionTypes[number]
