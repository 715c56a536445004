import { type About, email, type Written } from "./EmailTexts.ts"

/* Texts of e-mails to users about changes to their second factor, so that they notice changes by others. */

export const switchedOn = (about: About): Written => (words) => {
  const { server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("Two-factor sign-in is on"),
    say("Who signs in as {name} on {server} needs a code of your app beside the password from now on.", {
      name,
      server
    }),
    say("All browsers were signed out. Your apps stay signed in."),
    say("If it was not you, set a new password at once and tell the administrators of your server.")
  )
}

export const switchedOff = (about: About): Written => (words) => {
  const { server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("Two-factor sign-in is off"),
    say("The password alone is enough to sign in as {name} on {server} from now on.", { name, server }),
    say("If it was not you, set a new password at once and tell the administrators of your server.")
  )
}

/** Tells the user that a recovery code was used; `left` is the number of unused codes. */
export const recovered = (about: About & { readonly left: number }): Written => (words) => {
  const { left, server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("A recovery code was used"),
    say("Somebody signed in as {name} on {server} with one of your recovery codes.", { name, server }),
    say(
      "{left, plural, one {# recovery code is left.} other {# recovery codes are left.}}",
      { left }
    ),
    say("If it was not you, set a new password at once and tell the administrators of your server.")
  )
}
