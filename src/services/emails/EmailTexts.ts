import type { Messages } from "../languages/Messages.ts"
import type { Email } from "./Mailer.ts"

/*
 * Texts of e-mails about accounts, in the recipient's language. Plain text: the essential part of each is its link,
 * which every mail program shows.
 */

export interface About {
  readonly to: string
  /** Domain of the server. */
  readonly server: string
  readonly username: string
}

export type Written = (words: Messages) => Email

/** Builds an e-mail of several paragraphs; its subject names the server. */
export const email = (
  { server, to }: Omit<About, "username">,
  { say }: Messages,
  subject: string,
  ...paragraphs: ReadonlyArray<string>
): Email => ({
  to,
  subject: `${subject} (${server})`,
  text: [
    ...paragraphs,
    say("This letter was sent by {server}, because somebody gave your address there.", { server })
  ].join("\n\n")
})

/** Confirms an address. Its link is valid for `MailLinks.confirmationMillisMax`. */
export const confirmation = (about: About & { readonly link: string; readonly waits: boolean }): Written => (words) => {
  const { link, server, username: name, waits } = about
  const { say } = words
  return email(
    about,
    words,
    say("Confirm your e-mail address"),
    say("Welcome, {name}!", { name }),
    say("Open this link to confirm your e-mail address and finish your sign-up on {server}:", { server }),
    link,
    ...(waits
      ? [say("When the address is confirmed, a moderator looks at your sign-up. You get a letter then.")]
      : []),
    say("The link works for two days. If you did not sign up, do nothing: without it the account is removed.")
  )
}

/** Lets the user set a new password. Its link is valid for `MailLinks.passwordResetMillisMax`. */
export const passwordReset = (about: About & { readonly link: string }): Written => (words) => {
  const { link, server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("Set a new password"),
    say("Somebody asked to set a new password for {name} on {server}. Open this link to do so:", { name, server }),
    link,
    say("The link works for six hours. If it was not you, do nothing: your password stays as it is.")
  )
}

/** Tells the user that a moderator approved the sign-up. */
export const approved = (about: About & { readonly publicUrl: string }): Written => (words) => {
  const { publicUrl: address, server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("You are in"),
    say("Welcome, {name}! A moderator of {server} approved your sign-up.", { name, server }),
    say("Use any app for Mastodon with {address}, or go back to the one in which you signed up.", { address })
  )
}

/** Welcomes a new user who can sign in. */
export const welcome = (about: About & { readonly publicUrl: string }): Written => (words) => {
  const { publicUrl: address, server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("Welcome to {server}", { server }),
    say("Welcome, {name}! Your handle is {handle}: by it people on every server find you.", {
      name,
      handle: `@${name}@${server}`
    }),
    say("Use any app for Mastodon with {address}, or go back to the one in which you signed up.", { address }),
    say("What this server is about, and its rules: {address}", { address: `${address}/about` })
  )
}

/** Tells moderators that sign-ups need approval now, because none of them was active for a week. */
export const registrationsClosed = (about: Omit<About, "username">): Written => (words) => {
  const { server } = about
  const { say } = words
  return email(
    about,
    words,
    say("Sign-ups wait for a moderator now"),
    say("No moderator of {server} was there for a week. Who signs up waits for one from now on.", { server }),
    say("Open the registrations again in the settings when you are back.")
  )
}

/** Tells an applicant that a moderator rejected the sign-up; the account and its data are deleted. */
export const rejected = (about: About): Written => (words) => {
  const { server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("Your sign-up was turned down"),
    say("A moderator of {server} looked at your wish for the account {name} and turned it down.", { name, server }),
    say("The account and what you wrote there were removed.")
  )
}

/** Tells moderators about a pending sign-up. */
export const waiting = (about: About & { readonly reason: string | null }): Written => (words) => {
  const { reason, server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("{name} asks to be let in", { name }),
    say("{name} signed up on {server} and waits for a moderator.", { name, server }),
    reason === null ? say("No reason was given.") : `${say("The reason that was given:")}\n${reason}`,
    say("{approve} and {reject} decide on the command line.", {
      approve: `account approve ${name}`,
      reject: `account reject ${name}`
    })
  )
}

/** Tells staff about trending hashtags that await review. */
export const trending =
  (about: Omit<About, "username"> & { readonly names: ReadonlyArray<string> }): Written => (words) => {
    const { names, server } = about
    const { say } = words
    return email(
      about,
      words,
      say("Hashtags wait to be looked at"),
      say("These hashtags began to trend on {server}. They are shown when somebody of the staff allowed them:", {
        server
      }),
      names.map((name) => `#${name}`).join("\n"),
      say("{approve} and {reject} decide on the command line.", {
        approve: "trends approve tag NAME",
        reject: "trends reject tag NAME"
      })
    )
  }

/** Tells moderators about the decision on a sign-up. */
export const decided = (about: About & { readonly decision: "approved" | "rejected" }): Written => (words) => {
  const { decision, server, username: name } = about
  const { say } = words
  return decision === "approved"
    ? email(
      about,
      words,
      say("{name} was approved", { name }),
      say("The sign-up of {name} on {server} was approved. There is nothing left to decide.", { name, server })
    )
    : email(
      about,
      words,
      say("{name} was rejected", { name }),
      say("The sign-up of {name} on {server} was rejected. There is nothing left to decide.", { name, server })
    )
}

export const passwordChanged = (about: About): Written => (words) => {
  const { server, username: name } = about
  const { say } = words
  return email(
    about,
    words,
    say("Your password was changed"),
    say("The password of {name} on {server} was changed, and all its sessions and apps were signed out.", {
      name,
      server
    }),
    say("If it was not you, set a new password at once and tell the administrators of your server.")
  )
}
