import { Schema } from "effect"
import { NotAllowed } from "../runtime/Errors.ts"

/** States of a user; all but `active` keep the user from calls and pages of members (auth.md section 5). */
export const UserState = Schema.Literals(["active", "unconfirmed", "pending", "disabled", "moved"])
export type UserState = typeof UserState.Type

/** SQL for the `UserState` of a user `u` with its account `a`. */
export const userStateSql = `CASE WHEN u.disabled OR a.suspended_at IS NOT NULL OR a.memorial THEN 'disabled'
  WHEN u.confirmed_at IS NULL THEN 'unconfirmed'
  WHEN NOT u.approved THEN 'pending'
  WHEN a.moved_to_id IS NOT NULL THEN 'moved'
  ELSE 'active' END`

const texts = {
  unconfirmed: "Your login is missing a confirmed e-mail address",
  pending: "Your login is currently pending approval",
  disabled: "Your login is currently disabled",
  moved: "Your login is currently disabled"
}

/** Refusal of a user who was disabled during the request. */
export const disabledSince = new NotAllowed({ text: texts.disabled })

/** Access that a call or a page asks for: everyone's reads stay open to moved users. */
interface Asked {
  readonly forUsers: boolean
  /** True if users with an unconfirmed address or a pending sign-up are allowed. */
  readonly unconfirmed?: boolean
}

/** Returns the refusal of a user in this state; undefined if the access is allowed. The API and pages share it. */
export const stateRefusal = (state: UserState, { forUsers, unconfirmed }: Asked): NotAllowed | undefined => {
  if (state === "active" || state === "moved" && !forUsers) return undefined
  const isExempt = unconfirmed === true && (state === "unconfirmed" || state === "pending")
  return isExempt ? undefined : new NotAllowed({ text: texts[state] })
}
