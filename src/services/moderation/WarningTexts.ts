import type { Email } from "../emails/Mailer.ts"
import type { Messages } from "../languages/Messages.ts"
import type { Strike, StrikeAction } from "./Strike.ts"

interface About {
  readonly to: string
  /** Domain of the server. */
  readonly server: string
  readonly username: string
  readonly action: StrikeAction
  readonly statusIds: Strike["statusIds"]
  readonly collectionNames: Strike["collectionNames"]
  /** Message from the moderator. */
  readonly text: string
  /** URL of the strike, with the appeal form. */
  readonly address: string
}

type Words = (say: Messages["say"], about: { readonly name: string; readonly server: string }) => string

const subjects: Readonly<Record<StrikeAction, Words>> = {
  none: (say, about) => say("A warning about your account {name}", about),
  disable: (say, about) => say("Your account {name} was frozen", about),
  "mark_statuses_as_sensitive": (say, about) => say("Posts of {name} were marked as sensitive", about),
  "delete_statuses": (say, about) => say("Posts of {name} were removed", about),
  sensitive: (say, about) => say("All posts of {name} will be marked as sensitive", about),
  silence: (say, about) => say("Your account {name} was limited", about),
  suspend: (say, about) => say("Your account {name} was suspended", about)
}

/** Texts of strikes that are about collections alone. */
const ofCollections: Readonly<Partial<Record<StrikeAction, { readonly subject: Words; readonly explanation: Words }>>> =
  {
    "mark_statuses_as_sensitive": {
      subject: (say, about) => say("Collections of {name} were marked as sensitive", about),
      explanation: (say, about) => say("A moderator of {server} marked some of your collections as sensitive.", about)
    },
    "delete_statuses": {
      subject: (say, about) => say("Collections of {name} were removed", about),
      explanation: (say, about) => say("A moderator of {server} removed some of your collections.", about)
    }
  }

const explanations: Readonly<Record<StrikeAction, Words>> = {
  none: (say, about) => say("A moderator of {server} sent you a warning. Your account is not restricted.", about),
  disable: (say, about) =>
    say("A moderator of {server} froze your account. Your profile and posts remain, but you cannot sign in.", about),
  "mark_statuses_as_sensitive": (say, about) =>
    say("A moderator of {server} marked some of your posts as sensitive.", about),
  "delete_statuses": (say, about) => say("A moderator of {server} removed some of your posts.", about),
  sensitive: (say, about) => say("A moderator of {server} hid all your media behind a warning.", about),
  silence: (say, about) =>
    say("A moderator of {server} limited your account. Only your followers see your posts.", about),
  suspend: (say, about) =>
    say(
      "A moderator of {server} suspended your account. Your profile and posts are hidden.",
      about
    )
}

type Done = Pick<Strike, "action" | "statusIds" | "collectionNames">

const collectionTexts = ({ action, collectionNames, statusIds }: Done) =>
  statusIds.length === 0 && collectionNames.length > 0 ? ofCollections[action] : undefined

/** Returns the explanation of a strike for the affected user. */
export const explanationOf = (strike: Done): Words =>
  collectionTexts(strike)?.explanation ?? explanations[strike.action]

/** E-mail about a strike to the affected user: the action, and the moderator's message. */
export const warning = (given: About) => ({ say }: Messages): Email => {
  const { action, address, collectionNames, server, text, to, username: name } = given
  const about = { name, server }
  return {
    to,
    subject: `${(collectionTexts(given)?.subject ?? subjects[action])(say, about)} (${server})`,
    text: [
      explanationOf(given)(say, about),
      ...(collectionNames.length === 0
        ? []
        : [`${say("Affected collections")}\n${collectionNames.join("\n")}`]),
      ...(text.trim() === "" ? [] : [`${say("Message from the moderator:")}\n${text}`]),
      `${say("If you believe this is a mistake, you can appeal within 20 days.")}\n${address}`,
      say("You received this email from {server} because someone entered your address there.", { server })
    ].join("\n\n")
  }
}
