import type { Messages } from "../languages/Messages.ts"
import type { Email } from "./Mailer.ts"

/*
 * Texts of e-mails about accounts, in the recipient's language. Plain text: the essential part of each is its link,
 * which every mail program shows.
 */

export interface Recipient {
  readonly to: string
  /** Domain of the server. */
  readonly server: string
  readonly username: string
}

export type EmailFor = (words: Messages) => Email

/** Builds an e-mail of several paragraphs; its subject names the server. */
export const buildEmail = (
  { server, to }: Omit<Recipient, "username">,
  { say }: Messages,
  subject: string,
  ...paragraphs: ReadonlyArray<string>
): Email => ({
  to,
  subject: `${subject} (${server})`,
  text: [
    ...paragraphs,
    say("You received this email from {server} because someone entered your address there.", { server })
  ].join("\n\n")
})

/** Confirms an address. Its link is valid for `MailLinks.confirmationMillisMax`. */
export const confirmation =
  (about: Recipient & { readonly link: string; readonly waits: boolean }): EmailFor => (words) => {
    const { link, server, username: name, waits } = about
    const { say } = words
    return buildEmail(
      about,
      words,
      say("Confirm your email address"),
      say("Welcome, {name}!", { name }),
      say("Open this link to confirm your email address and finish your sign-up on {server}:", { server }),
      link,
      ...(waits
        ? [say("After you confirm, a moderator reviews your sign-up. We will email you the decision.")]
        : []),
      say(
        "The link works for two days. If you did not sign up, ignore this email: the unconfirmed account will be removed."
      )
    )
  }

/** Lets the user set a new password. Its link is valid for `MailLinks.passwordResetMillisMax`. */
export const passwordReset = (about: Recipient & { readonly link: string }): EmailFor => (words) => {
  const { link, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Set a new password"),
    say("Someone asked to reset the password of {name} on {server}. To choose a new one, open this link:", {
      name,
      server
    }),
    link,
    say("The link works for six hours. If you did not ask for this, ignore this email: your password stays the same.")
  )
}

/** Tells the user that a moderator approved the sign-up. */
export const approved = (about: Recipient & { readonly publicUrl: string }): EmailFor => (words) => {
  const { publicUrl: address, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Your account was approved"),
    say("Welcome, {name}! A moderator of {server} approved your sign-up.", { name, server }),
    say("Sign in at {address}, with a browser or any Mastodon app.", { address })
  )
}

/** Welcomes a new user who can sign in. */
export const welcome = (about: Recipient & { readonly publicUrl: string }): EmailFor => (words) => {
  const { publicUrl: address, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Welcome to {server}", { server }),
    say("Welcome, {name}! Your handle is {handle}. People on any server can find you by it.", {
      name,
      handle: `@${name}@${server}`
    }),
    say("Sign in at {address}, with a browser or any Mastodon app.", { address }),
    say("About this server and its rules: {address}", { address: `${address}/about` })
  )
}

/** Tells moderators that sign-ups need approval now, because none of them was active for a week. */
export const registrationsClosed = (about: Omit<Recipient, "username">): EmailFor => (words) => {
  const { server } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Sign-ups now need approval"),
    say("No moderator of {server} has been active for a week, so new sign-ups now need approval.", { server }),
    say("You can reopen sign-ups in the settings when you are back.")
  )
}

/** Tells an applicant that a moderator rejected the sign-up; the account and its data are deleted. */
export const rejected = (about: Recipient): EmailFor => (words) => {
  const { server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Your sign-up was rejected"),
    say("A moderator of {server} reviewed your request for the account {name} and rejected it.", { name, server }),
    say("The account and everything in it were removed.")
  )
}

/** Tells moderators about a pending sign-up; `address` is its staff page. */
export const waiting =
  (about: Recipient & { readonly address: string; readonly reason: string | null }): EmailFor => (words) => {
    const { address, reason, server, username: name } = about
    const { say } = words
    return buildEmail(
      about,
      words,
      say("{name} requests an account", { name }),
      say("{name} signed up on {server} and needs approval.", { name, server }),
      reason === null ? say("No reason was given.") : `${say("Reason for joining:")}\n${reason}`,
      say("Decide here: {address}", { address })
    )
  }

/** Tells staff about trending hashtags that await review; `address` is their staff page. */
export const trending = (
  about: Omit<Recipient, "username"> & { readonly address: string; readonly names: ReadonlyArray<string> }
): EmailFor =>
(words) => {
  const { address, names, server } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Hashtags need review"),
    say("These hashtags began to trend on {server}. They are shown once a moderator approves them:", {
      server
    }),
    names.map((name) => `#${name}`).join("\n"),
    say("Decide here: {address}", { address })
  )
}

/** Tells moderators about the decision on a sign-up. */
export const decided = (about: Recipient & { readonly decision: "approved" | "rejected" }): EmailFor => (words) => {
  const { decision, server, username: name } = about
  const { say } = words
  return decision === "approved"
    ? buildEmail(
      about,
      words,
      say("{name} was approved", { name }),
      say("The sign-up of {name} on {server} was approved. No further action is needed.", { name, server })
    )
    : buildEmail(
      about,
      words,
      say("{name} was rejected", { name }),
      say("The sign-up of {name} on {server} was rejected. No further action is needed.", { name, server })
    )
}

export const passwordChanged = (about: Recipient): EmailFor => (words) => {
  const { server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Your password was changed"),
    say("The password of {name} on {server} was changed, and all sessions and apps were signed out.", {
      name,
      server
    }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

/** Tells the user that they changed the password; apps stay signed in. */
export const passwordReplaced = (about: Recipient): EmailFor => (words) => {
  const { server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Your password was changed"),
    say("The password of {name} on {server} was changed, and all browsers were signed out. Your apps stay signed in.", {
      name,
      server
    }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

/** Tells the owner of the old address that the account gets a new one. */
export const emailChanging = (about: Recipient & { readonly email: string }): EmailFor => (words) => {
  const { email, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Your email address is being changed"),
    say("The address of {name} on {server} is being changed to {email}.", { name, server, email }),
    say("If this was not you, reset your password immediately and contact the administrators of your server.")
  )
}

/** Confirms the new address of a user. Its link is valid for `MailLinks.confirmationMillisMax`. */
export const newAddress = (about: Recipient & { readonly link: string }): EmailFor => (words) => {
  const { link, server, username: name } = about
  const { say } = words
  return buildEmail(
    about,
    words,
    say("Confirm your new email address"),
    say("Open this link to make this the email address of {name} on {server}:", { name, server }),
    link,
    say("The link works for two days. If you did not ask for this, ignore this email: your address stays the same.")
  )
}

/** Tells the user about a sign-in from a network or browser that was not used before. */
export const newSignIn =
  (about: Recipient & { readonly browser: string; readonly address: string; readonly publicUrl: string }): EmailFor =>
  (words) => {
    const { address, browser, publicUrl, server, username: name } = about
    const { say } = words
    return buildEmail(
      about,
      words,
      say("New sign-in to your account"),
      say("Someone signed in as {name} on {server} from a new browser or network.", { name, server }),
      `${browser}\n${address}`,
      say(
        "If this was you, you do not need to do anything. If not, change your password and end the session: {address}",
        {
          address: `${publicUrl}/settings/sessions`
        }
      )
    )
  }
