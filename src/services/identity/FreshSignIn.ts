import { Context } from "effect"

/** Time after a sign-in during which it confirms changes of a user without a password, in milliseconds. */
export const freshMillisMax = 10 * 60_000

/**
 * True if the current work is a form of a browser that has just signed in. It stands for the password of a user without
 * one. Apps never have it: a token may be as new as the sign-in that authorized it.
 */
export const FreshSignIn = Context.Reference<boolean>("murmuration/services/identity/FreshSignIn", {
  defaultValue: () => false
})

/** Refusal of a user without a password whose sign-in is too old. */
export const signInAgain = "Sign in with the identity provider again to confirm this."
