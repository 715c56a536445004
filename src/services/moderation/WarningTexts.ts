import type { Email } from "../emails/Mailer.ts"
import type { Messages } from "../languages/Messages.ts"
import type { StrikeAction } from "./Strike.ts"

interface About {
  readonly to: string
  /** The server, by its domain. */
  readonly server: string
  readonly username: string
  readonly action: StrikeAction
  /** What the moderator says. */
  readonly text: string
  /** Where the person reads it and appeals. */
  readonly address: string
}

type Words = (say: Messages["say"], about: { readonly name: string; readonly server: string }) => string

const subjects: Readonly<Record<StrikeAction, Words>> = {
  none: (say, about) => say("A warning about your account {name}", about),
  disable: (say, about) => say("Your account {name} was frozen", about),
  "mark_statuses_as_sensitive": (say, about) => say("Posts of {name} were marked as sensitive", about),
  "delete_statuses": (say, about) => say("Posts of {name} were removed", about),
  sensitive: (say, about) => say("All posts of {name} are marked as sensitive from now on", about),
  silence: (say, about) => say("Your account {name} was limited", about),
  suspend: (say, about) => say("Your account {name} was suspended", about)
}

/** What was done, as the person is told. */
export const explanations: Readonly<Record<StrikeAction, Words>> = {
  none: (say, about) =>
    say("A moderator of {server} has a warning for you. Nothing was done about your account.", about),
  disable: (say, about) =>
    say("A moderator of {server} froze your account. Your profile and posts stay, but you cannot sign in.", about),
  "mark_statuses_as_sensitive": (say, about) =>
    say("A moderator of {server} marked some of your posts as sensitive.", about),
  "delete_statuses": (say, about) => say("A moderator of {server} removed some of your posts.", about),
  sensitive: (say, about) => say("A moderator of {server} has your files hidden behind a warning from now on.", about),
  silence: (say, about) =>
    say("A moderator of {server} limited your account. Only those who follow you see your posts by themselves.", about),
  suspend: (say, about) =>
    say(
      "A moderator of {server} suspended your account. It is not shown any more.",
      about
    )
}

/** To somebody about whom moderators did something: what, and in their words why. */
export const warning = (given: About) => ({ say }: Messages): Email => {
  const { action, address, server, text, to, username: name } = given
  const about = { name, server }
  return {
    to,
    subject: `${subjects[action](say, about)} (${server})`,
    text: [
      explanations[action](say, about),
      ...(text.trim() === "" ? [] : [`${say("The moderator writes:")}\n${text}`]),
      `${say("If you think that this is wrong, you can appeal within 20 days.")}\n${address}`,
      say("This letter was sent by {server}, because somebody gave your address there.", { server })
    ].join("\n\n")
  }
}
