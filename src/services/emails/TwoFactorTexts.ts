import { buildEmail, type EmailFor, type Recipient } from "./EmailTexts.ts"

/* Texts of e-mails to users about changes to their second factor, so that they notice changes by others. */

export const switchedOn = (about: Recipient): EmailFor => (words) => {
  const { server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Two-factor sign-in is on"),
    say("Signing in as {name} on {server} now takes a code from your app in addition to the password.", {
      name,
      server
    }),
    say("All browsers were signed out. Your apps stay signed in."),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

export const switchedOff = (about: Recipient): EmailFor => (words) => {
  const { server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Two-factor sign-in is off"),
    say("Signing in as {name} on {server} now takes only the password.", { name, server }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

/** Tells the user that a recovery code was used; `left` is the number of unused codes. */
export const recovered = (about: Recipient & { readonly left: number }): EmailFor => (words) => {
  const { left, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("A recovery code was used"),
    say("Someone signed in as {name} on {server} with one of your recovery codes.", { name, server }),
    say(
      "{left, plural, one {# recovery code is left.} other {# recovery codes are left.}}",
      { left }
    ),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

export const passkeyAdded = (about: Recipient): EmailFor => (words) => {
  const { server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("A passkey was added"),
    say("A passkey was added to the account {name} on {server}. It can sign in without the password.", {
      name,
      server
    }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

export const passkeyRemoved = (about: Recipient): EmailFor => (words) => {
  const { server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("A passkey was removed"),
    say("A passkey of the account {name} on {server} was removed.", { name, server }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

export const identityAdded = (about: Recipient & { readonly provider: string }): EmailFor => (words) => {
  const { provider, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Sign-in with {provider} was added", { provider }),
    say("The account {name} on {server} can now sign in with {provider}, because your email address is the same.", {
      name,
      server,
      provider
    }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

export const identityRemoved = (about: Recipient & { readonly provider: string }): EmailFor => (words) => {
  const { provider, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Sign-in with {provider} was removed", { provider }),
    say("The account {name} on {server} can no longer sign in with {provider}.", { name, server, provider }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}
