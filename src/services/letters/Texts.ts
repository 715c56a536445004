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
export const confirmation = (about: About & { readonly username: string; readonly link: string }): Letter =>
  letter(
    about,
    "Confirm your e-mail address",
    `Welcome, ${about.username}!`,
    `Open this link to confirm your e-mail address and finish your sign-up on ${about.server}:`,
    about.link,
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

export const passwordChanged = (about: About & { readonly username: string }): Letter =>
  letter(
    about,
    "Your password was changed",
    `The password of ${about.username} on ${about.server} was changed, and all its sessions and apps were signed out.`,
    "If it was not you, set a new password at once and tell the administrators of your server."
  )
