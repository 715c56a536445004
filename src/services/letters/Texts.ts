import type { Letter } from "./Mailer.ts"

/*
 * The texts of the letters about sign-in. Plain text: the one thing that matters in each is its link, and every mail
 * program shows that.
 */

interface About {
  readonly to: string
  /** The server, by its domain. */
  readonly server: string
}

const letter = ({ server, to }: About, subject: string, ...paragraphs: ReadonlyArray<string>): Letter => ({
  to,
  subject: `${subject} (${server})`,
  text: [...paragraphs, `This letter was sent by ${server}, because somebody gave your address there.`].join("\n\n")
})

/** How long its link works: `MailLinks.confirmationMillisMax`. */
export const confirmation = (
  about: About & { readonly username: string; readonly link: string; readonly waits: boolean }
): Letter =>
  letter(
    about,
    "Confirm your e-mail address",
    `Welcome, ${about.username}!`,
    `Open this link to confirm your e-mail address and finish your sign-up on ${about.server}:`,
    about.link,
    ...(about.waits
      ? ["When the address is confirmed, a moderator looks at your sign-up. You get a letter then."]
      : []),
    "The link works for two days. If you did not sign up, do nothing: without it the account is removed."
  )

/** How long its link works: `MailLinks.passwordResetMillisMax`. */
export const passwordReset = (about: About & { readonly username: string; readonly link: string }): Letter =>
  letter(
    about,
    "Set a new password",
    `Somebody asked to set a new password for ${about.username} on ${about.server}. Open this link to do so:`,
    about.link,
    "The link works for six hours. If it was not you, do nothing: your password stays as it is."
  )

/** A moderator let somebody in who waited for it. */
export const approved = (about: About & { readonly username: string; readonly publicUrl: string }): Letter =>
  letter(
    about,
    "You are in",
    `Welcome, ${about.username}! A moderator of ${about.server} approved your sign-up.`,
    `Use any app for Mastodon with ${about.publicUrl}, or go back to the one in which you signed up.`
  )

/** A moderator turned somebody away; the account is gone with all that was known of it. */
export const rejected = (about: About & { readonly username: string }): Letter =>
  letter(
    about,
    "Your sign-up was turned down",
    `A moderator of ${about.server} looked at your wish for the account ${about.username} and turned it down.`,
    "The account and what you wrote there were removed."
  )

/** To whoever may decide: somebody waits. */
export const waiting = (about: About & { readonly username: string; readonly reason: string | null }): Letter =>
  letter(
    about,
    `${about.username} asks to be let in`,
    `${about.username} signed up on ${about.server} and waits for a moderator.`,
    about.reason === null ? "No reason was given." : `The reason that was given:\n${about.reason}`,
    `account approve ${about.username} and account reject ${about.username} decide on the command line.`
  )

/** To whoever may decide: it was decided. */
export const decided = (
  about: About & { readonly username: string; readonly decision: "approved" | "rejected" }
): Letter =>
  letter(
    about,
    `${about.username} was ${about.decision}`,
    `The sign-up of ${about.username} on ${about.server} was ${about.decision}. There is nothing left to decide.`
  )

export const passwordChanged = (about: About & { readonly username: string }): Letter =>
  letter(
    about,
    "Your password was changed",
    `The password of ${about.username} on ${about.server} was changed, and all its sessions and apps were signed out.`,
    "If it was not you, set a new password at once and tell the administrators of your server."
  )
