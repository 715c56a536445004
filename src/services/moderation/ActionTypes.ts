/** Restrictions of an account that last until a moderator lifts them (operations.md section 17). */
export const lastingTypes = ["disable", "sensitive", "silence", "suspend"] as const
export type LastingType = typeof lastingTypes[number]

/** Moderation actions: the restrictions, and a warning without an effect. */
export const actionTypes = ["none", ...lastingTypes] as const
export type ActionType = typeof actionTypes[number]

/** Moderation actions on posts. */
export const statusActionTypes = ["delete", "mark_as_sensitive"] as const
export type StatusActionType = typeof statusActionTypes[number]

/** Maximum characters of a moderator's message to a user. */
export const actionTextCharactersMax = 5_000
